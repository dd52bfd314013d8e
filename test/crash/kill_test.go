//go:build failpoint

package crash

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
)

// hang is the time after which the test fails if a process does not end.
const hang = 2 * time.Minute

// The delivered agent is killed while it downloads from servers that also stop sending and close connections. Between its runs the
// disk damages received data, and components are removed. A file with a program's name always has all bytes of that program. The
// next undisturbed run makes the same machine as if nothing had happened.
func TestKilledDownload(t *testing.T) {
	program := build(t)
	canEnclose(t, program)
	wares := newWares(t)
	c := begin(t, "killed while it downloads")
	each(size{part: 8, whole: 400}.now(), func(i int) {
		c.point(fmt.Sprintf("history %d", i), wares.survive(program, draw(useServed+uint64(i))))
	})
	c.end()
}

// victim is one machine, and the servers that it downloads from.
type victim struct {
	*wares
	random  *rand.Rand
	program string
	root    string
	from    *origin
	// label describes the disturbances, for the error.
	label []string
}

// survive interrupts an agent several times, and checks that the next run makes up for it.
func (w *wares) survive(program string, random *rand.Rand) (err error) {
	v := &victim{wares: w, random: random, program: program, from: newOrigin(w)}
	defer v.from.close()
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", strings.Join(v.label, ", "), err)
		}
	}()
	want, err := v.undisturbed()
	if err != nil {
		return err
	}
	if v.root, err = v.machine(); err != nil {
		return err
	}
	defer os.RemoveAll(v.root)
	for run := range 1 + random.IntN(4) {
		if err := v.interrupted(run == 0); err != nil {
			return err
		}
		now, err := snapshot(v.root)
		if err == nil {
			err = v.whole(now, isPart, isTemporary)
		}
		if err != nil {
			return err
		}
		if err := v.spoil(); err != nil {
			return err
		}
	}
	return v.recovered(want)
}

// undisturbed is the machine after one uninterrupted run. It has each program.
func (v *victim) undisturbed() (tree, error) {
	root, err := v.machine()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	if err := v.run(root, &disturbance{}); err != nil {
		return nil, err
	}
	want, err := snapshot(root)
	if err != nil {
		return nil, err
	}
	found := 0
	for at, e := range want {
		if isStored(at) && e.content == string(v.programs[path.Base(at)]) {
			found++
		}
	}
	if found != len(v.programs) || v.from.given() != v.size() {
		return nil, fmt.Errorf("left alone, %d of %d programs have come, in %d of %d bytes", found, len(v.programs), v.from.given(), v.size())
	}
	return want, v.whole(want)
}

// machine is a directory with a contract that names the servers.
func (v *victim) machine() (string, error) {
	root, t := newRoot(), enclosure()
	put := func(at, content string) {
		for dir := path.Dir(at); dir != "/"; dir = path.Dir(dir) {
			t[dir] = entry{mode: os.ModeDir | 0o755, uid: madeBy.uid, gid: madeBy.gid}
		}
		t[at] = entry{mode: 0o600, uid: madeBy.uid, gid: madeBy.gid, content: content}
	}
	put("/contract.yaml", v.contract+v.from.artifacts())
	put("/facts.json", v.facts)
	put("/etc/ssl/certs/ca-certificates.crt", v.from.authority())
	for _, dir := range []string{"/run", "/run/systemd", "/run/systemd/system"} { // systemd has booted it (sd_booted(3)), and does not answer
		t[dir] = entry{mode: os.ModeDir | 0o755, uid: madeBy.uid, gid: madeBy.gid}
	}
	return root, t.write(root)
}

// interrupted runs the agent, and ends it at some moment. The first run, on an empty machine, cannot end by itself while the
// servers send only a part.
func (v *victim) interrupted(first bool) error {
	d := v.disturb()
	v.label = append(v.label, d.String())
	if err := v.run(v.root, d); err != nil {
		return err
	}
	if first && d.holds && !d.sent {
		return errors.New("the run ended before the signal")
	}
	return nil
}

// run runs the agent until it ends by itself or by a disturbance.
func (v *victim) run(root string, d *disturbance) error {
	now := v.from.begin(d)
	defer close(now.released)
	cmd, err := enclosed(root, v.program, "provision", "--provision-config", "/contract.yaml", "--facts", "/facts.json", "--log-level", "error")
	if err != nil {
		return err
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	patience := time.After(hang)
	for {
		select {
		case <-now.reached:
			time.Sleep(d.later)
			d.sent = cmd.Process.Signal(d.signal) == nil
		case err := <-ended:
			return d.ended(cmd, err, out.String())
		case <-patience:
			_ = cmd.Process.Kill()
			<-ended
			return fmt.Errorf("does not end within %s: %s", hang, out.String())
		}
	}
}

// ended checks that a process has ended by SIGKILL or by itself. The directory has no systemd, so no run reaches the units.
func (d *disturbance) ended(cmd *exec.Cmd, err error, out string) error {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	switch state := cmd.ProcessState.Sys().(syscall.WaitStatus); {
	case state.Signaled() && d.sent && d.signal == syscall.SIGKILL && state.Signal() == syscall.SIGKILL:
		return nil
	case state.Signaled(), state.ExitStatus() == notEntered, state.ExitStatus() == 2: // 2 is a panic
		return fmt.Errorf("ends with %s: %s", cmd.ProcessState, out)
	case !d.sent && !strings.Contains(out, "connect to systemd"):
		return fmt.Errorf("does not get as far as systemd: %s", out)
	}
	return nil
}

// isStored reports whether a path is a file in a component's store.
func isStored(at string) bool {
	return strings.HasPrefix(at, resource.Downloads+"/") && strings.Count(at, "/") == strings.Count(resource.Downloads, "/")+2
}

// whole checks that a file with a program's name is that program, and that a store has no other file except its record and what
// passes accepts.
func (v *victim) whole(now tree, passes ...func(at string) bool) error {
	for at, e := range now {
		content, isProgram := v.programs[path.Base(at)]
		passing := slices.ContainsFunc(passes, func(f func(string) bool) bool { return f(at) }) || path.Base(at) == "origin.json"
		switch {
		case !isStored(at) && path.Dir(at) != "/usr/bin":
		case !isProgram && !passing:
			return fmt.Errorf("%s is left: %s", at, e)
		case isProgram && e.mode.IsRegular() && e.content != string(content):
			return fmt.Errorf("%s is not whole: %s, want %d bytes", at, e, len(content))
		}
	}
	return nil
}

// spoil damages the disk between two runs: it changes a byte of a part, or removes a store.
func (v *victim) spoil() error {
	now, err := snapshot(v.root)
	if err != nil {
		return err
	}
	for _, component := range v.components {
		removed, spoilt := v.random.IntN(4) == 0, v.random.IntN(3) == 0
		where, bit := v.random.Float64(), byte(1)<<v.random.IntN(8)
		for at, e := range now {
			switch {
			case !strings.HasPrefix(at, resource.Downloads+"/"+component+"-"):
			case removed && e.mode.IsDir():
				v.label = append(v.label, at+" is removed")
				err = os.RemoveAll(v.root + at)
			case !removed && spoilt && isPart(at) && e.content != "":
				content := []byte(e.content)
				n := int(where * float64(len(content)))
				content[n] ^= bit
				v.label = append(v.label, fmt.Sprintf("byte %d of %s changes", n, at))
				err = os.WriteFile(v.root+at, content, 0o600)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// recovered checks that an undisturbed run makes the same machine as want, and that one more run requests nothing.
func (v *victim) recovered(want tree) error {
	for range 2 {
		if err := v.run(v.root, &disturbance{}); err != nil {
			return err
		}
		got, err := snapshot(v.root)
		if err != nil {
			return err
		}
		for at := range union(got, want) {
			passing := strings.HasPrefix(at, "/var/") || strings.HasPrefix(at, "/run/")
			if got[at] != want[at] && !passing {
				return fmt.Errorf("%s is %s, want %s", at, got[at], want[at])
			}
		}
	}
	if n := v.from.given(); n > 0 {
		return fmt.Errorf("one more run downloads %d bytes", n)
	}
	return nil
}

// disturbance is how a run is disturbed.
type disturbance struct {
	// signal is sent when the servers have sent a number of bytes, and after a delay. 0 means no signal.
	signal syscall.Signal
	after  int64
	later  time.Duration
	// holds reports whether the servers then stop sending, so that the agent waits for the rest when it gets the signal.
	holds bool
	// cuts are the numbers of bytes after which the first answers break off.
	cuts []int64
	// sent reports whether the signal was sent.
	sent bool
}

// disturb draws a run's disturbance.
func (v *victim) disturb() *disturbance {
	d := &disturbance{signal: syscall.SIGKILL, after: v.random.Int64N(v.size())}
	if v.random.IntN(5) == 0 {
		d.signal = syscall.SIGTERM
	}
	switch v.random.IntN(4) {
	case 0, 1:
		d.holds = true
	case 2: // nearly at the end, or while the agent unpacks the data
		d.after, d.later = v.size()-1, time.Duration(v.random.IntN(30))*time.Millisecond
	}
	for range v.random.IntN(3) {
		d.cuts = append(d.cuts, v.random.Int64N(v.size()/2))
	}
	return d
}

func (d *disturbance) String() string {
	text := fmt.Sprintf("%s after %d bytes", d.signal, d.after)
	if d.holds {
		text += ", which are all"
	}
	if d.later > 0 {
		text += " and " + d.later.String()
	}
	if len(d.cuts) > 0 {
		text += fmt.Sprintf(", answers end after %d", d.cuts)
	}
	return text
}
