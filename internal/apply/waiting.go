package apply

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/state"
)

// reportEvery is how often a run reports what it waits for.
const reportEvery = 10 * time.Second

// Progress is how far a component has come.
type Progress struct {
	// Bytes have come of Total, which is 0 where nobody says it.
	Bytes, Total int64
	// Waits is why nothing comes just now; nil where something does.
	Waits error
}

// String is what a person is shown.
func (p Progress) String() string {
	switch {
	case p.Waits != nil:
		return "waits: " + p.Waits.Error()
	case p.Total > 0:
		return fmt.Sprintf("%d of %d bytes have come", p.Bytes, p.Total)
	}
	return fmt.Sprintf("%d bytes have come", p.Bytes)
}

// awaited are the components that are being brought, by name.
type awaited struct {
	mu   sync.Mutex
	list map[string]Progress
}

// set notes how far a component is.
func (a *awaited) set(component string, p Progress) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.list == nil {
		a.list = make(map[string]Progress)
	}
	a.list[component] = p
}

// over notes that a component is not waited for any more.
func (a *awaited) over(component string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.list, component)
}

// lines have a component each.
func (a *awaited) lines() (lines []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, component := range slices.Sorted(maps.Keys(a.list)) {
		lines = append(lines, component+" "+a.list[component].String())
	}
	return lines
}

// reporting reports what is being brought as long as bring takes: in the log, and in a file for those who wait for the run. Where
// the order of all changes is to be the same each time, nothing is reported.
func (r *run) reporting(bring func()) {
	if r.Sequential {
		bring()
		return
	}
	var reporter sync.WaitGroup
	over := make(chan struct{})
	reporter.Go(func() {
		tick := time.NewTicker(reportEvery)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				_ = r.guarded("report", r.reportAwaited)
			}
		}
	})
	bring()
	close(over)
	reporter.Wait()
	if err := r.Host.Remove(state.Waiting.Path); err != nil {
		r.Log.Warn("what was waited for is still published", "error", err)
	}
}

func (r *run) reportAwaited() error {
	text := r.Now().UTC().Format(time.RFC3339) + "\n"
	for _, line := range r.awaited.lines() {
		r.Log.Info("a component has not come yet", "component", line)
		text += line + "\n"
	}
	file, err := state.Waiting.With([]byte(text[:min(int64(len(text)), state.Waiting.Limit)]))
	if err == nil {
		err = errors.Join(r.Host.Stage(file), r.Host.Commit(file.Path))
	}
	return err
}
