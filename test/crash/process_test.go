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

// childEnv tells this program to provision a directory, and to die: ROOT AT WHEN. What is true of
// the machine comes by standard input: what is recorded of it for everybody is not all.
const childEnv = "SLIPWAY_CRASH_CHILD"

// child is a run in a process of its own, which the kernel ends in the middle of it.
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
	syscall.Umask(0o077) // as whoever starts it may have it
	workDir = filepath.Dir(args[0])
	failpoint.Set(&running)
	n := &node{scenario: s, root: args[0]}
	n.provision(&session{death: death{at, moment(when)}, kill: true})
	return 1 // it was to die
}

// A process that the kernel ends leaves the very tree, to the byte, that a run leaves which goes on and has
// no effect. So what the other tests show of the latter holds for the former.
func TestKilledProcess(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	onEach(t, func(t *testing.T, s *scenario) {
		if s.joins {
			t.Skip("a process of its own has no API server")
		}
		c := begin(t, "killed process = frozen run, "+s.name)
		var deaths []death
		for i, d := range s.deaths() {
			made := s.events[d.at].Kind == "mkdir" && d.when == after // with which mode?
			if i%6 == 0 && d.when != within || made {                 // a process cannot be ended in the middle of a system call
				deaths = append(deaths, d)
			}
		}
		deaths = sample(deaths, size{few: 5, part: 50}.now(), s.kind)
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
	n.runs = frozen.runs // what it did until then
	return n.finish()
}
