package apply

import (
	"fmt"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
)

// node is a resource in the graph of requirements. ok, ended and last may be read once done is closed.
type node struct {
	resource.Resource
	// planned is false for a unit that the plan does not start, but whose inputs changed: it is restarted if it runs.
	planned bool
	// stale is a resource of an earlier plan that must be undone.
	stale    bool
	requires []*node
	// after are the nodes that it waits for, whether they succeed or fail.
	after []*node
	done  chan struct{}
	// last is the remaining work right before a later unit starts. It may be nil.
	last  func() error
	ok    bool
	ended time.Time
}

// graph links the plan's actions, and returns them in an order with each after its requirements.
func (r *run) graph() ([]*node, error) {
	nodes := make(map[resource.ID]*node)
	var ids []resource.ID
	add := func(n *node) {
		if _, twice := nodes[n.ID()]; !twice {
			n.done = make(chan struct{})
			nodes[n.ID()] = n
			ids = append(ids, n.ID())
		}
	}
	for _, res := range r.plan.Resources {
		if ordinary(res.Spec) {
			add(&node{Resource: res, planned: true})
		}
	}
	var commands []resource.ID // the earlier plan's
	for _, res := range r.dropped() {
		if ordinary(res.Spec) && resource.Undone(res.Spec) {
			n := &node{Resource: resource.Resource{Spec: res.Spec}, stale: true}
			if precedesUnits(res.Spec) {
				commands = append(commands, res.ID())
			} else if _, ok := res.Spec.(*resource.Command); ok {
				n.After = res.After
			}
			add(n)
		}
	}
	var checks []resource.ID // commands of this plan with changed inputs: an unplanned unit does not require them by itself
	for _, res := range r.plan.Resources {
		if precedesUnits(res.Spec) {
			checks = append(checks, res.ID())
		}
	}
	for _, unit := range slices.Concat(r.intent.Restarts, r.intent.Reloads) {
		add(&node{Resource: resource.Resource{Spec: &resource.Unit{Unit: unit}, Requires: slices.Clone(checks)}})
	}
	for _, n := range nodes {
		// A unit may read at its start what such a command makes of the remaining inputs.
		if _, ok := n.Spec.(*resource.Unit); ok && !n.stale {
			n.Requires = slices.Concat(n.Requires, commands)
		}
	}
	slices.Sort(ids)
	return ordered(nodes, ids)
}

// ordinary reports whether a resource is applied among the others: neither before them, like a mount or a component,
// nor with the files.
func ordinary(spec resource.Spec) bool {
	switch spec.(type) {
	case *resource.Mount, *resource.Download:
		return false
	}
	return !resource.OnDisk(spec)
}

// ordered visits the nodes in the order of their IDs, each after its requirements.
func ordered(nodes map[resource.ID]*node, ids []resource.ID) ([]*node, error) {
	state := make(map[resource.ID]int) // 1 while visiting, 2 when visited
	var order []*node
	var visit func(id resource.ID) error
	visit = func(id resource.ID) error {
		n := nodes[id]
		if state[id] == 2 {
			return nil
		}
		if state[id] == 1 {
			return fmt.Errorf("plan has a cycle of requirements through %s", id)
		}
		state[id] = 1
		for _, edges := range []struct {
			ids []resource.ID
			to  *[]*node
		}{{n.Requires, &n.requires}, {n.After, &n.after}} {
			for _, before := range edges.ids {
				if nodes[before] == nil {
					continue // a resource of a phase that is not applied, or a file
				}
				if err := visit(before); err != nil {
					return err
				}
				*edges.to = append(*edges.to, nodes[before])
			}
		}
		state[id] = 2
		order = append(order, n)
		return nil
	}
	for _, id := range ids {
		if err := visit(id); err != nil {
			return nil, err
		}
	}
	return order, nil
}
