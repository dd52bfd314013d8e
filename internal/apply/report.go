package apply

import (
	"cmp"
	"slices"
	"sort"
	"sync"

	"github.com/slipway-dev/slipway/internal/resource"
)

// outcome collects a report while parts of a run work in parallel.
type outcome struct {
	mu     sync.Mutex
	report Report
	// units are the names of the units that are as planned.
	units map[string]bool
	// absent are the stores of components that this host does not get, each with a slash.
	absent []string
}

func (r *run) record(f func(*Report)) {
	r.outcome.mu.Lock()
	defer r.outcome.mu.Unlock()
	f(&r.outcome.report)
}

func (r *run) changed(id resource.ID, action Action) {
	r.Log.Debug("changed", "resource", string(id), "action", string(action))
	r.record(func(rep *Report) { rep.Changes = append(rep.Changes, Change{ID: id, Action: action}) })
}

func (r *run) unchanged() {
	r.record(func(rep *Report) { rep.Unchanged++ })
}

func (r *run) skipped(id resource.ID) {
	r.record(func(rep *Report) { rep.Skipped = append(rep.Skipped, id) })
}

// advised records a failure that the node works with.
func (r *run) advised(err error) {
	r.Log.Warn("the node goes on without it", "error", err)
	r.record(func(rep *Report) { rep.Advice = append(rep.Advice, err) })
}

func (r *run) printed(output []byte) {
	r.record(func(rep *Report) { rep.Output = append(rep.Output, output...) })
}

// settle records that a unit runs with the present files, or need not run.
func (r *run) settle(unit string) {
	r.outcome.mu.Lock()
	defer r.outcome.mu.Unlock()
	if r.outcome.units == nil {
		r.outcome.units = make(map[string]bool)
	}
	r.outcome.units[unit] = true
}

func (r *run) settled(unit string) bool {
	r.outcome.mu.Lock()
	defer r.outcome.mu.Unlock()
	return r.outcome.units[unit]
}

func (r *run) guarded(what string, f func() error) error { return Guard(r.Log, what, f) }

// step times a part of the run.
func (r *run) step(name string, f func() error) error {
	start := r.Now()
	r.awaited.begin(name, start)
	err := r.guarded(name, f)
	r.awaited.end(name)
	duration := r.Now().Sub(start)
	r.record(func(rep *Report) { rep.Steps = append(rep.Steps, Step{Name: name, Start: start, Duration: duration}) })
	r.Log.Debug("step", "name", name, "duration", duration, "error", err)
	return err
}

// report returns what happened, in an order that does not depend on speed.
func (r *run) report() *Report {
	r.outcome.mu.Lock()
	defer r.outcome.mu.Unlock()
	rep := r.outcome.report
	positions := make(map[resource.ID]int, len(r.plan.Resources))
	for i, res := range r.plan.Resources {
		positions[res.ID()] = i
	}
	position := func(c Change) int {
		if at, planned := positions[c.ID]; planned {
			return at
		}
		return len(positions)
	}
	sort.SliceStable(rep.Changes, func(i, j int) bool {
		a, b := rep.Changes[i], rep.Changes[j]
		return cmp.Or(cmp.Compare(position(a), position(b)), cmp.Compare(a.ID, b.ID)) < 0
	})
	slices.Sort(rep.Skipped)
	sort.SliceStable(rep.Steps, func(i, j int) bool { return rep.Steps[i].Start.Before(rep.Steps[j].Start) })
	return &rep
}
