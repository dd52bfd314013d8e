//go:build failpoint

package crash

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/internal/failpoint"
)

// childEnv makes this program provision a directory, and die. Its value: ROOT AT WHEN. The facts of the machine come on standard
// input, because the recorded facts that all users may read are not complete.
const childEnv = "SLIPWAY_CRASH_CHILD"

// child is a run in a separate process, which the kernel kills in the middle.
func child() int {
	var at, when int
	args := strings.Fields(os.Getenv(childEnv))
	s := &scenario{brings: true}
	err := gob.NewDecoder(os.Stdin).Decode(&s.facts)
	if err == nil {
		at, err = strconv.Atoi(args[1])
	}
	if err == nil {
		when, err = strconv.Atoi(args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	syscall.Umask(0o077) // the umask of the caller does not matter
	workDir = filepath.Dir(args[0])
	failpoint.Set(&running)
	n := &node{scenario: s, root: args[0]}
	n.provision(&session{death: death{at, moment(when)}, kill: true})
	return 1 // it should have died
}

// A killed process leaves exactly the same tree, to the byte, as a run whose calls have no effect from the same moment on. So what
// the other tests show of the latter holds for the former.
func TestKilledProcess(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	onEach(t, func(t *testing.T, s *scenario) {
		if s.joins {
			t.Skip("a separate process has no API server")
		}
		c := begin(t, "killed process = frozen run, "+s.name)
		var deaths []death
		for i, d := range s.deaths() {
			made := s.events[d.at].Kind == "mkdir" && d.when == after // which mode would it have?
			if i%6 == 0 && d.when != within || made {                 // a process cannot be killed in the middle of a system call
				deaths = append(deaths, d)
			}
		}
		deaths = sample(deaths, size{part: 8}.now(), s.kind)
		each(len(deaths), func(i int) { c.point(s.label(deaths[i]), s.killed(program, deaths[i])) })
		c.end()
	})
}

func (s *scenario) killed(program string, d death) error {
	frozen, err := s.node()
	if err != nil {
		return err
	}
	defer frozen.remove()
	frozen.provision(&session{death: d})
	n, err := s.node()
	if err != nil {
		return err
	}
	defer n.remove()
	var known bytes.Buffer
	if err := gob.NewEncoder(&known).Encode(s.facts); err != nil {
		return err
	}
	cmd := exec.Command(program)
	cmd.Stdin = &known
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d", childEnv, n.root, d.at, d.when))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		return fmt.Errorf("the process was to be killed: %w: %s", err, out)
	}
	want, err := snapshot(frozen.root)
	if err != nil {
		return err
	}
	got, err := snapshot(n.root)
	if err != nil {
		return err
	}
	for path := range union(got, want) {
		if got[path] != want[path] {
			return fmt.Errorf("%s is %s after SIGKILL, and %s after a run that had no effect any more", path, got[path], want[path])
		}
	}
	n.runs = frozen.runs // the actions until then
	return n.finish()
}
