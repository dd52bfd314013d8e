package karpenter

import (
	"slices"
	"time"
)

// Window is a span of time. End is exclusive.
type Window struct{ Start, End time.Time }

// Rollout restricts changes in place. The zero value changes one node of a pool at a time, at any time of the day. The pool's own
// budgets restrict replacements.
type Rollout struct {
	// AtMost is how many nodes of a pool may change at the same time. 0 means one.
	AtMost int
	// Windows are when nodes may begin to change. Empty means always.
	Windows []Window
	// Deadline is how long a change may take before the node is replaced. 0 means [DefaultChangeDeadline].
	Deadline time.Duration
}

// begins reports whether one more node of a pool may begin to change while others change.
func (r *Rollout) begins(changing int, now time.Time) bool {
	isOpen := len(r.Windows) == 0 || slices.ContainsFunc(r.Windows, func(w Window) bool { return !now.Before(w.Start) && now.Before(w.End) })
	return isOpen && changing < max(r.AtMost, 1)
}
