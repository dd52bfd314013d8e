// Package concern has what every concern of a node works with: the input, with what is decided for all of them, and the output, with the
// groups by which resources are in order. It has no concern itself, and writes no file. internal/plan and the packages of subjects call it.
package concern

import "github.com/slipway-dev/slipway/internal/resource"

// Concern is one part of a node: what is written, where, when and why. It knows no other concern, so their order
// does not matter.
type Concern struct {
	Name string
	// Subject is what it is about: the name of its package.
	Subject resource.Subject
	// Joins says that only a node that joins a cluster has it.
	Joins bool
	// Reads are the contract's settings that it applies; a path stands for all that is below it, and "*" for each key
	// of a map. A setting that no concern reads is not applied, and is warned of where it is set.
	Reads []string
	// Declines are settings that it does not apply and reports itself: a value may ask for what the node has anyway, or
	// for what no node can be without.
	Declines []string
	Plan     func(in *Input, out *Output)
}

// Of gives concerns their subject, and returns them.
func Of(subject resource.Subject, concerns ...*Concern) []*Concern {
	for _, c := range concerns {
		c.Subject = subject
	}
	return concerns
}
