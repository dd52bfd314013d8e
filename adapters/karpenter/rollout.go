package karpenter

import (
	"slices"
	"time"
)

// Window is a span of time; its end is not in it.
type Window struct{ Start, End time.Time }

// Rollout restricts changes in place. The zero value changes one node of a pool at a time, always. Replacements are restricted by the
// pool's own budgets.
type Rollout struct {
	// AtMost is how many nodes of a pool change at the same time; 0 for one.
	AtMost int
	// Windows are when nodes begin to change; none for always.
	Windows []Window
	// Deadline is how long a change may take before the node is replaced; 0 for [DefaultChangeDeadline].
	Deadline time.Duration
}

// begins reports whether one more node of a pool may begin to change, while some others change.
func (r *Rollout) begins(changing int, now time.Time) bool {
	isOpen := len(r.Windows) == 0 || slices.ContainsFunc(r.Windows, func(w Window) bool { return !now.Before(w.Start) && now.Before(w.End) })
	return isOpen && changing < max(r.AtMost, 1)
}
