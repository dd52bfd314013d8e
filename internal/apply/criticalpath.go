package apply

import (
	"slices"
	"time"
)

// critical returns the names of the steps that the run waited for, in order: its sequential steps, and the chain from
// the action that ended last back through the one that each had waited for longest. Actions without work are left out.
func (r *run) critical(order []*node) []string {
	var way []string
	steps := make(map[string]bool)
	for _, step := range r.outcome.report.Steps {
		steps[step.Name] = true
	}
	for n := latest(order); n != nil; n = latest(slices.Concat(n.requires, n.after)) {
		if name := string(n.ID()); steps[name] {
			way = append(way, name)
		}
	}
	for _, own := range []string{"daemon-reload", "write", "compare"} {
		if steps[own] {
			way = append(way, own)
		}
	}
	slices.Reverse(way)
	return way
}

// latest returns the node that ended last, or nil.
func latest(nodes []*node) *node {
	var last *node
	var at time.Time
	for _, n := range nodes {
		if last == nil || n.ended.After(at) {
			last, at = n, n.ended
		}
	}
	return last
}
