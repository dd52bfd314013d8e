package launch

import "slices"

// Drift is what a difference between a node and what is wanted takes.
type Drift string

// The classes, the least first.
const (
	// Ignore takes nothing: it changes no node.
	Ignore Drift = "ignore"
	// Refresh takes nothing of a node that runs: the next launch has it.
	Refresh Drift = "refresh"
	// InPlace takes a change of the running node: the agent's apply, or a call of the cloud.
	InPlace Drift = "in place"
	// Replace takes another machine.
	Replace Drift = "replace"
)

var classes = []Drift{Ignore, Refresh, InPlace, Replace}

// takes is the place of a class: a greater one takes more.
func (d Drift) takes() int { return slices.Index(classes, d) }
