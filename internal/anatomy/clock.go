package anatomy

import (
	"cmp"
	"slices"

	"github.com/slipway-dev/slipway/internal/anatomy/record"
)

// leastStep is the smallest difference between two neighbouring pairs that is a step of the clock. A clock that is slewed changes by
// half a millisecond a second (adjtimex(2)).
const leastStep = 100_000

// placer places times of the machine's clock on the monotonic axis.
type placer struct {
	segments []segment
	// accuracy is the pairs' accuracy, and from is the document of the first one.
	accuracy int64
	from     string
	// end is the time of the machine's clock at which a later boot begins, or 0.
	end int64
	// relative reports that no record is on the monotonic clock: the axis begins with the first record.
	relative bool
}

// segment is the pairs between two steps of the clock, in their order.
type segment []record.Pair

func (s segment) first() record.Pair { return s[0] }
func (s segment) last() record.Pair  { return s[len(s)-1] }

// newPlacer makes a placer from the records' pairs. The most accurate ones count.
func newPlacer(r *record.Records) *placer {
	p := &placer{}
	pairs := slices.Clone(r.Pairs)
	if len(pairs) == 0 {
		if first, monotonic := firstWall(r); first > 0 && !monotonic {
			p.relative = true
			p.segments = []segment{{{Wall: first}}}
		}
		return p
	}
	p.accuracy = slices.MinFunc(pairs, func(a, b record.Pair) int { return cmp.Compare(a.Accuracy, b.Accuracy) }).Accuracy
	pairs = slices.DeleteFunc(pairs, func(x record.Pair) bool { return x.Accuracy > p.accuracy })
	slices.SortStableFunc(pairs, func(a, b record.Pair) int {
		return cmp.Or(cmp.Compare(a.Monotonic, b.Monotonic), cmp.Compare(a.Wall, b.Wall))
	})
	p.from = pairs[0].Document
	step := max(leastStep, 4*p.accuracy)
	begin := 0
	for i := 1; i <= len(pairs); i++ {
		if i < len(pairs) {
			if d := offset(pairs[i]) - offset(pairs[i-1]); d < step && d > -step {
				continue
			}
		}
		p.segments = append(p.segments, pairs[begin:i])
		begin = i
	}
	for i, b := range r.Boots {
		if b.ID == r.Boot && i+1 < len(r.Boots) {
			p.end = r.Boots[i+1].First
		}
	}
	return p
}

func offset(p record.Pair) int64 { return p.Wall - p.Monotonic }

// firstWall is the earliest time of the machine's clock among the records, or 0. monotonic reports whether a record is on the monotonic
// clock.
func firstWall(r *record.Records) (first int64, monotonic bool) {
	see := func(m record.Moment) {
		monotonic = monotonic || m.IsMonotonic()
		if m.IsWall() && (first == 0 || m.Us < first) {
			first = m.Us
		}
	}
	for _, s := range r.Spans {
		see(s.Begin)
	}
	for _, e := range r.Events {
		see(e.At)
	}
	return first, monotonic
}

// place returns a moment on the monotonic axis. A time that the machine's clock had twice, because the clock was set back, is the
// first that is not before after. ok is false if the moment is unknown, or is not in this boot.
func (p *placer) place(m record.Moment, after int64) (us int64, ok bool) {
	if !m.IsWall() {
		return m.Us, m.IsMonotonic()
	}
	if p.end > 0 && m.Us >= p.end {
		return 0, false
	}
	slack := m.Accuracy + p.accuracy
	for i, s := range p.segments {
		at := s.monotonic(m.Us)
		if i == 0 && at < -slack || i > 0 && at < p.segments[i-1].last().Monotonic-slack {
			continue
		}
		if i+1 < len(p.segments) && at > p.segments[i+1].first().Monotonic {
			continue
		}
		if at = max(at, 0); !ok || us < after-slack && at >= after-slack {
			us, ok = at, true
		}
	}
	return us, ok
}

// monotonic converts a time by the last pair before it, or by the first one.
func (s segment) monotonic(us int64) int64 {
	i, _ := slices.BinarySearchFunc(s, us, func(x record.Pair, us int64) int { return cmp.Compare(x.Wall, us) })
	if i == len(s) || i > 0 && s[i].Wall > us {
		i--
	}
	return s[i].Monotonic + us - s[i].Wall
}

// clock describes the clock for the timeline.
func (p *placer) clock() Clock {
	c := Clock{From: p.from, Relative: p.relative, AccuracyUs: p.accuracy, Segments: []Segment{}}
	for i, s := range p.segments {
		c.Segments = append(c.Segments, Segment{StartUs: s.first().Monotonic, EndUs: s.last().Monotonic, OffsetUs: offset(s.first())})
		if i > 0 {
			c.Steps = append(c.Steps, Step{AtUs: s.first().Monotonic, ByUs: offset(s.first()) - offset(p.segments[i-1].last())})
		}
	}
	return c
}
