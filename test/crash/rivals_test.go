//go:build failpoint

package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/status"
)

const (
	provisioners = 8
	waiters      = 4
)

// Many agents provision one directory at once, and some wait for the result. One applies, each change is made once, and the others
// find nothing to do.
func TestRivals(t *testing.T) {
	onEach(t, func(t *testing.T, s *scenario) {
		if s.joins {
			t.Skip("a separate process has no API server")
		}
		c := begin(t, "8 provision and 4 wait at once, "+s.name)
		for round := range (size{part: 1, whole: 150}).now() {
			c.point(fmt.Sprintf("round %d", round), s.contested(round%2 == 0))
		}
		c.end()
	})
}

// contested provisions a directory with many agents at once.
func (s *scenario) contested(sequential bool) error {
	n, err := s.node()
	if err != nil {
		return err
	}
	defer n.remove()
	run := &session{root: n.root, death: death{at: -1}}
	running.byRoot.Store(n.root, run)
	defer running.byRoot.Delete(n.root)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var (
		wait    sync.WaitGroup
		mu      sync.Mutex
		errs    []error
		applied int
	)
	try := func(f func(a *agent.Agent) (changes int, err error)) {
		wait.Go(func() {
			changes, err := s.contender(n.root, sequential, f)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
			if changes > 0 {
				applied++
			}
		})
	}
	for range waiters {
		try(func(a *agent.Agent) (int, error) {
			document, code, err := a.Wait(ctx)
			return 0, waited(document, code, err)
		})
	}
	for range provisioners {
		try(func(a *agent.Agent) (int, error) {
			known := s.facts
			got := a.Provision(ctx, agent.ProvisionOptions{Facts: &known})
			if got.ExitCode != 0 {
				return 0, fmt.Errorf("a provisioning ends with %d: %v", got.ExitCode, got.Error)
			}
			return len(got.Changes), nil
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if applied != 1 {
		return fmt.Errorf("%d applied, want one", applied)
	}
	if err := run.once(); err != nil {
		return err
	}
	n.runs, n.earlier = append(n.runs, run), provisioners+waiters
	return n.converged()
}

// contender is one of many agents on a directory.
func (s *scenario) contender(root string, sequential bool, f func(a *agent.Agent) (int, error)) (changes int, err error) {
	dir, err := host.OpenDirectory(root)
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	return f(&agent.Agent{
		Host: s.on(dir), Log: slog.New(slog.DiscardHandler), Now: time.Now, Version: "test", Sequential: sequential, Called: "aks-node-controller",
	})
}

// waited checks that a result is complete and reports success.
func waited(document []byte, code int, err error) error {
	result, parseErr := status.ParseCSE(document)
	if err := errors.Join(err, parseErr); err != nil || code != 0 || result.ExitCode != "0" {
		return fmt.Errorf("a wait ends with %d and %q: %w", code, document, err)
	}
	return nil
}

// once checks that no file was put into place more than once.
func (s *session) once() error {
	placed := make(map[string]int)
	for i := range s.events {
		if e := &s.events[i]; e.Kind == "rename" && e.done {
			if placed[e.To]++; placed[e.To] > 1 && !strings.HasPrefix(e.To, ownDir) {
				return fmt.Errorf("%s was put into place more than once", e.To)
			}
		}
	}
	return nil
}

// Many processes provision one directory at once, some wait for the result, and some of those that provision are killed: the others
// finish their work.
func TestRivalProcesses(t *testing.T) {
	program := build(t)
	onEach(t, func(t *testing.T, s *scenario) {
		if s.joins || s.brings {
			t.Skip("a process on a directory asks no server")
		}
		known := s.recorded(t)
		for _, killed := range []int{0, 3} {
			c := begin(t, fmt.Sprintf("the same as processes, %d killed, %s", killed, s.name))
			for round := range (size{part: 1, whole: 30}).now() {
				c.point(fmt.Sprintf("round %d", round), s.contestedByProcesses(program, known, killed, uint64(round)))
			}
			c.end()
		}
	})
}

// build builds the node's program as it is delivered: static, and without failpoints.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(workDir, "slipway-node")
	cmd := exec.Command("go", "build", "-o", program, "../../cmd/slipway-node")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// recorded is a file with the facts of the scenario's machine.
func (s *scenario) recorded(t *testing.T) string {
	t.Helper()
	content, err := json.Marshal(s.facts)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "facts.json")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// started is a process and its output.
type started struct {
	*exec.Cmd
	out, log bytes.Buffer
	killed   bool
}

func (s *scenario) contestedByProcesses(program, known string, kill int, round uint64) error {
	n, err := s.node()
	if err != nil {
		return err
	}
	defer n.remove()
	run := func(args ...string) (*started, error) {
		p := &started{Cmd: exec.Command(program, append(args, "--root", n.root, "--log-level", "error")...)}
		p.Stdout, p.Stderr = &p.out, &p.log
		return p, p.Start()
	}
	var all []*started
	for i := range waiters + provisioners {
		args := []string{"provision-wait", "--timeout", "60s"}
		if i >= waiters {
			args = []string{"provision", "--facts", known, "-o", "json"}
		}
		p, err := run(args...)
		if err != nil {
			return err
		}
		all = append(all, p)
	}
	random := draw(useKills + round)
	for _, p := range all[waiters:][:kill] {
		time.Sleep(time.Duration(random.IntN(8)) * time.Millisecond)
		p.killed = p.Process.Kill() == nil
	}
	applied, ended := 0, 0
	for i, p := range all {
		changes, err := p.end(i < waiters)
		if err != nil {
			return err
		}
		if changes >= 0 {
			ended++
		}
		if changes > 0 {
			applied++
		}
	}
	if ended < provisioners-kill || applied > 1+kill || kill == 0 && applied != 1 {
		return fmt.Errorf("of %d that provisioned and ended %d applied something", ended, applied)
	}
	n.earlier = provisioners + waiters
	return n.finish()
}

// end waits for a process, and returns the number of changes of a provisioning; -1 if it was killed.
func (p *started) end(waits bool) (changes int, err error) {
	err = p.Wait()
	if p.killed && p.ProcessState.ExitCode() < 0 {
		return -1, nil
	}
	if waits {
		return -1, waited(p.out.Bytes(), p.ProcessState.ExitCode(), err)
	}
	var got status.Status
	if err := errors.Join(err, json.Unmarshal(p.out.Bytes(), &got)); err != nil || got.ExitCode != 0 {
		return 0, fmt.Errorf("a process ends with %w: %s %s", err, p.out.Bytes(), p.log.Bytes())
	}
	return len(got.Changes), nil
}
