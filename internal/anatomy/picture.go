package anatomy

import (
	"cmp"
	"slices"
)

// Rows are the spans that a picture of n rows shows: those with the longest part on the critical path, and then the longest ones.
func Rows(t *Timeline, n int) []Span {
	own := make(map[int]int64)
	for _, l := range t.Path {
		if l.Kind != Idle {
			own[l.Span] += l.EndUs - l.StartUs
		}
	}
	spans := slices.DeleteFunc(slices.Clone(t.Spans), func(s Span) bool {
		return !s.Critical && (s.Open || s.EndUs == s.StartUs || s.StartUs > t.GoalUs+(t.GoalUs/10))
	})
	slices.SortStableFunc(spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(own[b.ID], own[a.ID]), cmp.Compare(b.EndUs-b.StartUs, a.EndUs-a.StartUs))
	})
	spans = spans[:min(len(spans), n)]
	slices.SortStableFunc(spans, func(a, b Span) int { return cmp.Compare(a.ID, b.ID) })
	return spans
}

// Extent is the time that a picture shows: from the first record to the goal.
func Extent(t *Timeline) (from, to int64) {
	to = max(t.GoalUs, 1)
	for _, s := range t.Spans {
		from = min(from, s.StartUs)
	}
	return from, to + to/50
}

// RoundStep is a round distance for at most n marks on a scale of some microseconds.
func RoundStep(us int64, n int) int64 {
	step := int64(1000)
	for factors := []int64{2, 5, 2}; ; {
		for _, f := range factors {
			if us/step <= int64(n) {
				return step
			}
			if f == 5 {
				step = step / 2 * 5
			} else {
				step *= 2
			}
		}
	}
}

// Label is a span's name, with an indent if it is a part of another one.
func Label(t *Timeline, s Span) string {
	if s.In != "" && slices.ContainsFunc(t.Spans, func(x Span) bool { return x.Name == s.In }) {
		return "· " + s.Name
	}
	return s.Name
}
