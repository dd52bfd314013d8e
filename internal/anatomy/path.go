package anatomy

import (
	"math"
	"slices"

	"github.com/slipway-dev/slipway/internal/anatomy/record"
)

// apart is how far two times may differ, in microseconds, that belong to the same moment: sources round to milliseconds.
const apart = 2_000

// walker walks from the goal back to the boot's start.
type walker struct {
	t *Timeline
	// named are the spans by their names, and children those by the name of the span that they are a part of.
	named, children map[string][]int
	starters        map[string][]int
	// visited are the spans that the walk has come to, and left those that it has left by their start: it comes back to a span after each
	// of its parts.
	visited, left []bool
}

// findPath computes the critical path: from the goal back, at each point through the part of the present span that ended last, then
// to what started the span: the step that started the unit, or the unit before it in systemd's order that was ready last.
func (t *Timeline) findPath() {
	w := &walker{t: t, named: make(map[string][]int), children: make(map[string][]int), starters: make(map[string][]int), visited: make([]bool, len(t.Spans)), left: make([]bool, len(t.Spans))}
	for i, s := range t.Spans {
		w.named[s.Name] = append(w.named[s.Name], i)
		if s.In != "" {
			w.children[s.In] = append(w.children[s.In], i)
		}
		if s.By != "" {
			w.children[s.By] = append(w.children[s.By], i)
		}
		if s.Starts != "" {
			w.starters[s.Starts] = append(w.starters[s.Starts], i)
		}
	}
	i, at := w.last()
	if i < 0 {
		return
	}
	if t.GoalUs > at {
		w.link(i, Idle, at, t.GoalUs)
	}
	first := i
	for steps := 0; i >= 0 && steps < 4*len(t.Spans)+4; steps++ {
		first = i
		i, at = w.step(i, at)
	}
	w.link(first, Idle, 0, at)
	slices.Reverse(t.Path)
	for _, l := range t.Path {
		if l.Kind != Idle {
			t.Spans[l.Span].Critical = true
		}
	}
}

// last is the span with which the walk begins: the one that ends at the goal, or the last one that ended before it. If the goal
// is the kubelet's start, it is the step that started the kubelet.
func (w *walker) last() (i int, at int64) {
	if w.t.Goal == kubeletGoal {
		for _, i := range w.starters[kubeletUnit] {
			if s := &w.t.Spans[i]; s.StartUs <= w.t.GoalUs && (s.EndUs >= w.t.GoalUs || s.Open) {
				return i, w.t.GoalUs
			}
		}
	}
	best := -1
	for i, s := range w.t.Spans {
		if s.Open || s.EndUs > w.t.GoalUs+apart {
			continue
		}
		if best < 0 || s.EndUs > w.t.Spans[best].EndUs || s.EndUs == w.t.Spans[best].EndUs && s.Stage == record.Kubelet {
			best = i
		}
	}
	if best < 0 {
		return -1, 0
	}
	return best, min(w.t.Spans[best].EndUs, w.t.GoalUs)
}

// step moves from a time within a span to what determined it, and returns the next span and time. It returns -1 at the start.
func (w *walker) step(i int, at int64) (next int, then int64) {
	s := &w.t.Spans[i]
	if child := w.child(i, at); child >= 0 {
		w.visited[child] = true
		end := min(w.t.Spans[child].EndUs, at)
		w.link(i, Runs, end, at)
		return child, end
	}
	kind := Runs
	if s.For != "" {
		kind = Waits
	}
	w.link(i, kind, s.StartUs, at)
	w.visited[i], w.left[i] = true, true
	if parent := w.parent(i); parent >= 0 {
		return parent, s.StartUs
	}
	next, then = w.before(i)
	if next >= 0 && then < s.StartUs-apart {
		w.link(i, Idle, then, s.StartUs)
	}
	return next, min(then, s.StartUs)
}

// child is the part of a span that ended last before a time, or -1.
func (w *walker) child(i int, at int64) int {
	s, best := &w.t.Spans[i], -1
	for _, c := range w.children[s.Name] {
		x := &w.t.Spans[c]
		if c == i || w.visited[c] || x.Open || x.EndUs > at+apart || x.StartUs < s.StartUs-apart || x.EndUs > s.EndUs+apart {
			continue
		}
		if best < 0 || x.EndUs > w.t.Spans[best].EndUs {
			best = c
		}
	}
	return best
}

// parent is the span that contains another as its part, or -1.
func (w *walker) parent(i int) int {
	s := &w.t.Spans[i]
	for _, name := range []string{s.In, s.By} {
		if name == "" {
			continue
		}
		for _, p := range w.named[name] {
			x := &w.t.Spans[p]
			if p != i && x.StartUs <= s.StartUs && (x.EndUs >= s.EndUs-apart || x.Open) && !w.left[p] {
				return p
			}
		}
	}
	return -1
}

// before is what a span waited for before it began, and when that was done; -1 if nothing is known.
func (w *walker) before(i int) (next int, then int64) {
	s := &w.t.Spans[i]
	next = -1
	consider := func(c int, at int64) {
		// A unit that systemd has skipped took no time, and what it waited for is not recorded.
		x := &w.t.Spans[c]
		if x.StartUs == x.EndUs && len(x.After) == 0 {
			return
		}
		if c != i && !w.visited[c] && x.StartUs <= s.StartUs && at <= s.StartUs+apart && (next < 0 || at > then) {
			next, then = c, at
		}
	}
	for _, name := range s.After {
		for _, c := range w.named[name] {
			if x := &w.t.Spans[c]; !x.Open {
				consider(c, x.EndUs)
			}
		}
	}
	if s.By != "" {
		for _, c := range w.named[s.By] {
			consider(c, min(w.t.Spans[c].EndUs, s.StartUs))
		}
	}
	// A step that asks systemd for the unit determines the time only if the unit's own order allowed it earlier.
	for _, name := range []string{s.Name, s.By} {
		for _, c := range w.starters[name] {
			if x := &w.t.Spans[c]; name != "" && !w.visited[c] && x.StartUs <= s.StartUs && x.EndUs >= s.StartUs-apart && (next < 0 || x.StartUs > then) {
				next, then = c, s.StartUs
			}
		}
	}
	// No unit starts before systemd has read it.
	if c, at := w.stage(i); next < 0 || s.Stage == record.UnitStage && at > then {
		return c, at
	}
	return next, then
}

// stage is the part of the boot before systemd's units that ended last before a span, or -1. A span that is no unit has no order that
// systemd knows; it follows any whole part of the boot.
func (w *walker) stage(i int) (next int, then int64) {
	next, then = -1, math.MinInt64
	s := &w.t.Spans[i]
	for c, x := range w.t.Spans {
		switch x.Stage {
		case record.Firmware, record.Loader, record.Kernel, record.InitRD, record.Systemd:
		default:
			if s.Stage == record.UnitStage || x.Stage == record.UnitStage {
				continue
			}
		}
		if c != i && !w.visited[c] && !w.isPart(x) && !x.Open && x.EndUs <= s.StartUs+apart && x.EndUs >= then {
			next, then = c, x.EndUs
		}
	}
	return next, then
}

// isPart reports whether a span is a part of a recorded one.
func (w *walker) isPart(s Span) bool { return s.In != "" && len(w.named[s.In]) > 0 }

// link adds a part of the path, unless it is too short to matter.
func (w *walker) link(i int, kind string, from, to int64) {
	if to-from < apart/2 {
		return
	}
	w.t.Path = append(w.t.Path, Link{Span: i, Kind: kind, StartUs: from, EndUs: to})
}
