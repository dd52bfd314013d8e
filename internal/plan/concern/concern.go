// Package concern defines a concern of a node, and what all concerns share: the input, with the decisions made for all of them, and the
// output, with the groups that order resources. It holds no concern, and writes no file. internal/plan and the packages of subjects
// call it.
package concern

import "github.com/slipway-dev/slipway/internal/resource"

// Concern plans one part of a node: its files, units and checks. A concern must not depend on another concern: they run in any
// order.
type Concern struct {
	Name string
	// Subject is the package's subject. Of sets it.
	Subject resource.Subject
	// Joins excludes the concern from images: only a node that joins a cluster gets it.
	Joins bool
	// Reads are the paths of the contract's settings that the concern applies. A path includes everything below it; "*" stands for each
	// key of a map. A setting that no concern reads is not applied: the planner warns where the contract sets it.
	Reads []string
	// Declines are the paths of settings that the concern does not apply and reports itself. It reports none if the value is what the
	// node has anyway, or cannot do without.
	Declines []string
	Plan     func(in *Input, out *Output)
}

// Of sets the concerns' subject, and returns them.
func Of(subject resource.Subject, concerns ...*Concern) []*Concern {
	for _, c := range concerns {
		c.Subject = subject
	}
	return concerns
}
