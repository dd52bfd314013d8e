package resource

import (
	"cmp"
	"slices"
	"sort"
)

// Plan is the desired state of a machine.
type Plan struct {
	// Config is the digest of the config that the plan was made from.
	Config string
	// Dialect is the dialect that the config was written in.
	Dialect string
	// Resources are sorted by phase and ID.
	Resources []Resource
	// Health are the checks whether a running node is healthy with the plan. They are for changes and rollbacks; an
	// apply does not run them. Without any, the node's health is unknown.
	Health []Resource
	// Node has the decisions from which the files among the resources were written.
	Node Node
}

// Sort sorts the resources.
func (p *Plan) Sort() {
	sort.SliceStable(p.Resources, func(i, j int) bool {
		a, b := &p.Resources[i], &p.Resources[j]
		return cmp.Or(cmp.Compare(a.Phase, b.Phase), cmp.Compare(a.ID(), b.ID())) < 0
	})
}

// Only returns a plan with the resources of one phase. A machine that does not join is not a node.
func (p Plan) Only(phase Phase) Plan {
	if phase != Join {
		p.Node = Node{}
	}
	p.Resources = slices.DeleteFunc(slices.Clone(p.Resources), func(r Resource) bool { return r.Phase != phase })
	return p
}

// ByID returns the plan's resources by their IDs.
func (p Plan) ByID() map[ID]Resource {
	m := make(map[ID]Resource, len(p.Resources))
	for _, r := range p.Resources {
		m[r.ID()] = r
	}
	return m
}
