package apply

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/state"
)

// awaited are the components that are being downloaded, by name, with the progress of each.
type awaited struct {
	mu   sync.Mutex
	list map[string]string
}

// set records a component's progress. Empty means that nothing waits for it any more.
func (a *awaited) set(component, how string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if how == "" {
		delete(a.list, component)
		return
	}
	if a.list == nil {
		a.list = make(map[string]string)
	}
	a.list[component] = how
}

// reporting reports the downloads in progress as long as bring takes: in the log, and in a file for programs that wait
// for the run. If the order of all changes must be the same each time, it reports nothing.
func (r *run) reporting(bring func()) {
	if r.Sequential {
		bring()
		return
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-over:
				return
			case <-time.After(state.WaitingEvery):
				_ = r.guarded("report", r.reportAwaited)
			}
		}
	}()
	bring()
	close(over)
	<-ended
	if err := r.Host.Remove(state.Waiting.Path); err != nil {
		r.Log.Warn("what was waited for is still published", "error", err)
	}
}

func (r *run) reportAwaited() error {
	r.awaited.mu.Lock()
	defer r.awaited.mu.Unlock()
	var all []string
	for _, component := range slices.Sorted(maps.Keys(r.awaited.list)) {
		how := r.awaited.list[component]
		r.Log.Info("a component has not come yet", "component", component, "state", how)
		all = append(all, component+": "+how)
	}
	text := r.Now().UTC().Format(time.RFC3339) + " " + strings.Join(all, "; ")
	file, err := state.Waiting.With([]byte(text[:min(len(text), int(state.Waiting.Limit))]))
	if err == nil {
		err = errors.Join(r.Host.Stage(file), r.Host.Commit(file.Path))
	}
	return err
}
