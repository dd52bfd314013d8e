package anatomy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/slipway-dev/slipway/internal/anatomy/record"
)

const (
	// mostWaits is how many waits have a sentence.
	mostWaits = 5
	// leastIdle is the shortest time without work that is listed, in microseconds.
	leastIdle = 50_000
)

// findWaits picks the longest parts of the path.
func (t *Timeline) findWaits() {
	order := make([]int, len(t.Path))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(t.Path[b].EndUs-t.Path[b].StartUs, t.Path[a].EndUs-t.Path[a].StartUs)
	})
	for _, i := range order[:min(len(order), mostWaits)] {
		l := t.Path[i]
		t.Waits = append(t.Waits, Wait{StartUs: l.StartUs, EndUs: l.EndUs, Sentence: begun(t.sentence(i))})
	}
}

// sentence describes a part of the path: what took the time, and what could not go on before it ended.
func (t *Timeline) sentence(i int) string {
	l, s := t.Path[i], t.Spans[t.Path[i].Span]
	next := t.Goal
	for _, later := range t.Path[i+1:] {
		if later.Span != l.Span {
			next = called(t.Spans[later.Span])
			break
		}
	}
	took := Seconds(l.EndUs - l.StartUs)
	switch l.Kind {
	case Idle:
		before := "the boot's start"
		if i > 0 {
			before = called(t.Spans[t.Path[i-1].Span])
		}
		return fmt.Sprintf("%s passed between %s and %s; no record says why.", took, before, called(s))
	case Waits:
		if at, ok := t.At(s.For); ok && at >= l.StartUs && at <= l.EndUs+leastIdle {
			return fmt.Sprintf("%s waited %s for the event %q, which came at %s; then %s could go on.", called(s), took, s.For, Seconds(at), next)
		}
		return fmt.Sprintf("%s waited %s for the event %q; then %s could go on.", called(s), took, s.For, next)
	}
	whole := ""
	if l.StartUs > s.StartUs+leastIdle || l.EndUs < s.EndUs-leastIdle {
		whole = ", from " + Seconds(l.StartUs) + " to " + Seconds(l.EndUs)
	}
	return fmt.Sprintf("%s took %s%s; %s waited for it.", called(s), took, whole, next)
}

// called is a span's name for a sentence.
func called(s Span) string {
	switch s.Stage {
	case record.CloudInit:
		return "cloud-init's " + s.Name
	case record.Slipway:
		if s.In != "" {
			return "Slipway's step " + strconv.Quote(s.Name)
		}
	case record.Kernel, record.Firmware, record.Loader, record.InitRD, record.Kubelet, record.GuestAgent:
		return "the " + s.Name
	case record.Extension:
		if s.Name == customScript {
			return "the " + s.Name
		}
	}
	return s.Name
}

// findIdle finds the times in which no span works, from the kernel's start to the goal.
func (t *Timeline) findIdle() {
	at := int64(0)
	for _, s := range t.Spans { // by their start
		if s.For != "" || s.Open || s.Stage == record.Kubelet && s.In == "" || s.StartUs >= t.GoalUs {
			continue
		}
		if s.StartUs-at > leastIdle {
			t.Idle = append(t.Idle, Interval{StartUs: at, EndUs: s.StartUs})
		}
		at = max(at, s.EndUs)
	}
}

// Seconds formats microseconds for a reader: with three digits below ten seconds, else with two or one.
func Seconds(us int64) string {
	s := float64(us) / 1e6
	digits := 3
	switch {
	case s >= 100 || s <= -100:
		digits = 1
	case s >= 10 || s <= -10:
		digits = 2
	}
	return strconv.FormatFloat(s, 'f', digits, 64) + " s"
}

// signed is a difference of times with its sign, in the largest unit that fits.
func signed(us int64) string {
	for _, u := range []struct {
		us   int64
		name string
	}{{365 * 86400 * 1_000_000, "years"}, {86400 * 1_000_000, "days"}, {3600 * 1_000_000, "hours"}} {
		if us >= 2*u.us || us <= -2*u.us {
			return fmt.Sprintf("%+.1f %s", float64(us)/float64(u.us), u.name)
		}
	}
	return fmt.Sprintf("%+.3f s", float64(us)/1e6)
}
