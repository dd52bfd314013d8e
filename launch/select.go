package launch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Rollout restricts how many nodes change at a time, and when. The zero value changes one node of a pool at a time, always.
type Rollout struct {
	// AtMost is how many nodes of a pool change at the same time; 0 for one.
	AtMost int
	// Windows are when nodes begin to change; none for always.
	Windows []Window
	// Canary is how many nodes of a pool get a new image before all others; 0 for none. The others follow when so many of its
	// nodes with that image have been Ready for Soak.
	Canary int
	Soak   time.Duration
	// Deadline is how long a change in place may take before the node is replaced; 0 for ever.
	Deadline time.Duration
}

// Window is a span of time.
type Window struct{ Start, End time.Time }

// Contains reports whether a time is in the window. The end is not.
func (w Window) Contains(t time.Time) bool { return !t.Before(w.Start) && t.Before(w.End) }

// NodeState is what is known of one running node.
type NodeState struct {
	// Name is its claim's, Pool its pool's.
	Name, Pool string
	// Class is what the difference from the wanted node takes; [Ignore] where there is none, or it is not known.
	Class Drift
	// Image is the image that it runs, Wanted the one that it should.
	Image, Wanted string
	// ReadySince is since when it is Ready; zero where it is not.
	ReadySince time.Time
	// ChangingSince is since when it is replaced or changed in place; zero where it is not.
	ChangingSince time.Time
	// Fixed says that the cloud cannot change the user data of a machine that runs.
	Fixed bool
}

// Step is what is to be done with a node now.
type Step struct {
	Name string `json:"name"`
	// Class is [InPlace] or [Replace]; [Ignore] where the node waits.
	Class Drift `json:"class"`
	// Reason says why it is so.
	Reason string `json:"reason"`
}

// Select decides what is to be done now with nodes that differ from what is wanted: it begins with the names first in order, and
// a node whose change is under way is counted, and not in the result. The order of the nodes does not matter.
func Select(nodes []NodeState, now time.Time, policy Rollout) []Step {
	sorted := slices.Clone(nodes)
	slices.SortFunc(sorted, func(a, b NodeState) int {
		return cmp.Or(strings.Compare(a.Pool, b.Pool), strings.Compare(a.Name, b.Name))
	})
	var steps []Step
	for len(sorted) > 0 {
		end := slices.IndexFunc(sorted, func(n NodeState) bool { return n.Pool != sorted[0].Pool })
		if end < 0 {
			end = len(sorted)
		}
		steps = append(steps, policy.pool(sorted[:end], now)...)
		sorted = sorted[end:]
	}
	return steps
}

// pool decides for the nodes of one pool.
func (p *Rollout) pool(nodes []NodeState, now time.Time) []Step {
	changing := 0
	for i := range nodes {
		if !nodes[i].ChangingSince.IsZero() {
			changing++
		}
	}
	canaries := make(map[string]*trial)
	for i := range nodes {
		p.try(canaries, &nodes[i], now)
	}
	var steps []Step
	for i := range nodes {
		n := &nodes[i]
		class, why := n.takes(p.Deadline, now)
		if class == Ignore {
			continue
		}
		if class == Replace && !n.ChangingSince.IsZero() { // it is counted already
			steps = append(steps, Step{n.Name, class, why})
			continue
		}
		if wait := p.waits(n, changing, canaries, now); wait != "" {
			steps = append(steps, Step{n.Name, Ignore, wait})
			continue
		}
		changing++
		if t := canaries[n.Wanted]; n.newImage() && t != nil {
			t.begun++
		}
		steps = append(steps, Step{n.Name, class, why})
	}
	return steps
}

// newImage reports whether the node gets another image.
func (n *NodeState) newImage() bool { return n.Wanted != "" && n.Image != n.Wanted }

// takes is what a node takes now, and why; Ignore for nothing.
func (n *NodeState) takes(deadline time.Duration, now time.Time) (Drift, string) {
	switch {
	case n.Class != InPlace && n.Class != Replace:
		return Ignore, ""
	case !n.ChangingSince.IsZero() && n.Class == InPlace && deadline > 0 && now.Sub(n.ChangingSince) >= deadline:
		return Replace, fmt.Sprintf("it was to change in place, and has not in %s", deadline)
	case !n.ChangingSince.IsZero():
		return Ignore, ""
	case n.Class == InPlace && n.Fixed:
		return Replace, "the cloud does not change the user data of a machine that runs"
	}
	return n.Class, "it differs from what is wanted"
}

// trial is how far the canaries of an image are in a pool.
type trial struct{ begun, proven int }

// try counts a node as a canary of the image that it has, or gets.
func (p *Rollout) try(canaries map[string]*trial, n *NodeState, now time.Time) {
	if n.Wanted == "" {
		return
	}
	if canaries[n.Wanted] == nil {
		canaries[n.Wanted] = new(trial)
	}
	switch t := canaries[n.Wanted]; {
	case n.Image == n.Wanted:
		t.begun++
		if !n.ReadySince.IsZero() && now.Sub(n.ReadySince) >= p.Soak {
			t.proven++
		}
	case !n.ChangingSince.IsZero():
		t.begun++
	}
}

// waits says what a node waits for; empty for nothing.
func (p *Rollout) waits(n *NodeState, changing int, canaries map[string]*trial, now time.Time) string {
	if len(p.Windows) > 0 && !slices.ContainsFunc(p.Windows, func(w Window) bool { return w.Contains(now) }) {
		return "it waits for a window"
	}
	if most := max(p.AtMost, 1); changing >= most {
		return fmt.Sprintf("it waits: of the pool %d at a time change", most)
	}
	if t := canaries[n.Wanted]; p.Canary > 0 && n.newImage() && t.proven < p.Canary && t.begun >= p.Canary {
		return fmt.Sprintf("it waits until %d with the new image have been Ready for %s", p.Canary, p.Soak)
	}
	return ""
}
