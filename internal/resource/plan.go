package resource

import (
	"cmp"
	"slices"
	"sort"
)

// Plan is what a machine should be like.
type Plan struct {
	// Config is the digest of the config that the plan was made from.
	Config string
	// Dialect is the dialect that the config was written in.
	Dialect string
	// Resources are sorted by phase and ID.
	Resources []Resource
	// Health are the checks that tell whether a node that runs is well with the plan. They are for who changes it, or
	// goes back to it; nobody applies them. Where there is none it is not known how to ask.
	Health []Resource
	// Node is what the files among the resources were written from.
	Node Node
}

// Sort brings the resources into their order.
func (p *Plan) Sort() {
	sort.SliceStable(p.Resources, func(i, j int) bool {
		a, b := &p.Resources[i], &p.Resources[j]
		return cmp.Or(cmp.Compare(a.Phase, b.Phase), cmp.Compare(a.ID(), b.ID())) < 0
	})
}

// Only returns the plan's resources of one phase, as a plan. A machine that does not join is no node.
func (p Plan) Only(phase Phase) Plan {
	if phase != Join {
		p.Node = Node{}
	}
	p.Resources = slices.DeleteFunc(slices.Clone(p.Resources), func(r Resource) bool { return r.Phase != phase })
	return p
}

// ByID returns the plan's resources by their names.
func (p Plan) ByID() map[ID]Resource {
	m := make(map[ID]Resource, len(p.Resources))
	for _, r := range p.Resources {
		m[r.ID()] = r
	}
	return m
}
