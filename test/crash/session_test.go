//go:build failpoint

package crash

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/state"
)

// errDead is the error of every call after the run's death. None of these calls has an effect, so
// the tree is the same as if the process had ended. TestKilledProcess shows that.
var errDead = errors.New("the agent is dead")

// moment is when a run dies.
type moment int

const (
	never  moment = iota
	before        // the mutation has no effect
	within        // half of a write is done
	after         // the mutation is done, and nothing after it
)

func (m moment) String() string { return [...]string{"never", "before", "within", "after"}[m] }

// death is where a run dies.
type death struct {
	at   int // the mutation, from 0
	when moment
}

// event is a mutation that was tried.
type event struct {
	failpoint.Mutation
	// done reports whether it had its effect.
	done bool
	// cause is the unit, parameter or module that the mutation is for, if any, and action is what is done to it.
	cause  string
	action string
}

// session is one run on one directory, as its failpoint sees it.
type session struct {
	root string
	// death is where the run dies, if it does.
	death death
	// fault, if any, decides for each mutation whether it fails.
	fault func(s *session, n int, m *failpoint.Mutation) failpoint.Fate
	// kill ends the process instead of simulating its death.
	kill bool

	mu      sync.Mutex
	events  []event
	numbers map[*failpoint.Mutation]int // of mutations in progress
	dead    bool
	// freed is how much of the reserve was freed.
	freed  int64
	cause  string
	action string
}

// Before implements failpoint.Point.
func (s *session) Before(m *failpoint.Mutation) failpoint.Fate {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		return failpoint.Fate{Err: errDead}
	}
	n := len(s.events)
	if isAction(m) {
		s.cause, s.action = m.Path, m.Kind
	}
	seen := event{Mutation: *m, cause: s.cause, action: s.action}
	seen.Path, seen.Data = s.below(m.Path), append([]byte(nil), m.Data...)
	if m.Kind == "rename" || m.Kind == "link" {
		seen.To = s.below(m.To)
	}
	s.events = append(s.events, seen)
	if s.death.at == n && (s.death.when == before || s.death.when == within) {
		s.die()
		fate := failpoint.Fate{Err: errDead}
		if s.death.when == within {
			fate.Short = len(m.Data) / 2
		}
		return fate
	}
	if s.fault != nil {
		if fate := s.fault(s, n, m); fate.Err != nil {
			return fate
		}
	}
	if s.numbers == nil {
		s.numbers = make(map[*failpoint.Mutation]int)
	}
	s.numbers[m] = n
	return failpoint.Fate{}
}

// After implements failpoint.Point.
func (s *session) After(m *failpoint.Mutation, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		return
	}
	n := s.numbers[m]
	delete(s.numbers, m)
	s.events[n].done = err == nil
	if e := &s.events[n]; e.done && e.Kind == "unlink" && e.Path == state.Reserve.Path {
		s.freed += state.Reserve.Limit
	}
	if isAction(m) {
		s.cause, s.action = "", ""
	}
	if s.death.when == after && s.death.at == n {
		s.die()
	}
}

// isAction reports whether a mutation changes a unit or the kernel, and not a file.
func isAction(m *failpoint.Mutation) bool { return !filepath.IsAbs(m.Path) }

func (s *session) die() {
	s.dead = true
	if s.kill {
		syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// below is a path within the tree.
func (s *session) below(path string) string {
	if at, ok := strings.CutPrefix(path, s.root); ok && (at == "" || at[0] == '/') {
		return "/" + strings.TrimPrefix(at, "/")
	}
	return path
}

// sessions is the only failpoint of this process. It passes each directory's mutations to its
// session.
type sessions struct{ byRoot sync.Map }

var running sessions

func (all *sessions) of(m *failpoint.Mutation) *session {
	path := m.Root
	if path == "" {
		path = m.Path
	}
	rest, ok := strings.CutPrefix(path, workDir+"/")
	if !ok {
		return nil
	}
	name, _, _ := strings.Cut(rest, "/")
	s, _ := all.byRoot.Load(workDir + "/" + name)
	found, _ := s.(*session)
	return found
}

// Before implements failpoint.Point.
func (all *sessions) Before(m *failpoint.Mutation) failpoint.Fate {
	if s := all.of(m); s != nil {
		return s.Before(m)
	}
	return failpoint.Fate{}
}

// After implements failpoint.Point.
func (all *sessions) After(m *failpoint.Mutation, err error) {
	if s := all.of(m); s != nil {
		s.After(m, err)
	}
}
