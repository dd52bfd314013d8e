package apply

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/state"
)

// awaited are the running steps, by name.
type awaited struct {
	mu   sync.Mutex
	list map[string]awaitedStep
}

type awaitedStep struct {
	began time.Time
	// how is the progress, if the step reports one.
	how string
}

// begin records that a step runs. end removes it.
func (a *awaited) begin(name string, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.list == nil {
		a.list = make(map[string]awaitedStep)
	}
	a.list[name] = awaitedStep{began: at}
}

// progress records a step's progress.
func (a *awaited) progress(name, how string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if step, runs := a.list[name]; runs {
		step.how = how
		a.list[name] = step
	}
}

func (a *awaited) end(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.list, name)
}

// long returns the steps that have run for state.WaitingEvery or longer, sorted by name.
func (a *awaited) long(now time.Time) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(a.list)) {
		step := a.list[name]
		took := now.Sub(step.began).Round(time.Second)
		if took < state.WaitingEvery {
			continue
		}
		all = append(all, strings.TrimSuffix(fmt.Sprintf("%s for %s: %s", name, took, step.how), ": "))
	}
	return all
}

// reporting reports the running steps every state.WaitingEvery while do runs: in the log, and in a file for programs
// that wait for the run. If the order of all changes must be the same each time, it reports nothing.
func (r *run) reporting(do func() error) error {
	if r.Sequential {
		return do()
	}
	over, ended, reported := make(chan struct{}), make(chan struct{}), false
	go func() {
		defer close(ended)
		for {
			select {
			case <-over:
				return
			case <-time.After(state.WaitingEvery):
				_ = r.guarded("report", func() error {
					all := r.awaited.long(r.Now())
					if len(all) == 0 {
						return nil
					}
					reported = true
					return r.reportAwaited(strings.Join(all, "; "))
				})
			}
		}
	}()
	err := do()
	close(over)
	<-ended
	if reported {
		if err := r.Host.Remove(state.Waiting.Path); err != nil {
			r.Log.Warn("the file with what the run waits for is left behind", "error", err)
		}
	}
	return err
}

func (r *run) reportAwaited(what string) error {
	r.Log.Info("still waiting", state.WaitingKey, what)
	text := r.Now().UTC().Format(time.RFC3339) + " " + what
	file, err := state.Waiting.With([]byte(text[:min(len(text), int(state.Waiting.Limit))]))
	if err == nil {
		err = errors.Join(r.Host.Stage(file), r.Host.Commit(file.Path))
	}
	return err
}
