package status

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// The timeline's columns, and how many steps it shows.
const (
	maxStepName = 28
	timeColumn  = 7
	barColumn   = 24
	maxSteps    = 30
	maxTime     = 1 << 50 // ms; larger values are drawn as this one
)

// timeline writes a table of the steps: each with its start and duration, both also drawn to scale.
func (r *report) timeline(s *Status) {
	if len(s.Steps) == 0 {
		return
	}
	shown := longest(s.Steps, maxSteps)
	name, total, slowest := len("STEP"), max(s.DurationMs, 1), int64(0)
	for _, step := range shown {
		name = max(name, utf8.RuneCountInString(cell(step.Name, maxStepName)))
		total = max(total, clamp(step.StartMs)+clamp(step.DurationMs))
		slowest = max(slowest, step.DurationMs)
	}
	total = min(total, 2*maxTime)
	r.gap = true
	r.line("  ", r.paint(dim, pad("STEP", name)+"  "+padLeft("START", timeColumn)+"  "+padLeft("TOOK", timeColumn)))
	for _, step := range shown {
		c := dim
		if slices.Contains(s.CriticalPath, step.Name) {
			c = bold
		}
		if step.DurationMs == slowest && len(shown) > 1 {
			c = yellow
		}
		r.step(step, name, total, c)
	}
	if hidden := len(s.Steps) - len(shown) + s.omitted().Steps; hidden > 0 {
		r.line("  ", r.paint(dim, "and "+plural(hidden, "shorter step")))
	}
	r.gap = true
}

// step writes one row, with its bar in a colour.
func (r *report) step(step Step, name int, total int64, c ansi) {
	row := fmt.Sprintf("  %s  %s  %s  ", pad(cell(step.Name, name), name),
		padLeft(milliseconds(step.StartMs), timeColumn), padLeft(milliseconds(step.DurationMs), timeColumn))
	before, bar := scale(step, total)
	row += strings.Repeat(" ", before) + r.paint(c, strings.Repeat("=", bar))
	if detail := cell(step.Detail, width-2-name-3*2-2*timeColumn-barColumn-2); detail != "" {
		row += strings.Repeat(" ", barColumn-before-bar+2) + detail
	}
	r.line(row)
}

// scale returns the step's position and length within the bar column. The length is at least one
// column.
func scale(step Step, total int64) (before, bar int) {
	start, end := clamp(step.StartMs), clamp(step.StartMs)+clamp(step.DurationMs)
	before = min(int(start*barColumn/total), barColumn-1)
	bar = max(1, min(int((end*barColumn+total-1)/total), barColumn)-before)
	return before, bar
}

func clamp(ms int64) int64 { return min(max(0, ms), maxTime) }

// longest returns the n longest steps, in their order.
func longest(steps []Step, n int) []Step {
	if len(steps) <= n {
		return steps
	}
	indices := make([]int, len(steps))
	for i := range indices {
		indices[i] = i
	}
	sort.SliceStable(indices, func(i, j int) bool { return steps[indices[i]].DurationMs > steps[indices[j]].DurationMs })
	indices = indices[:n]
	slices.Sort(indices)
	var shown []Step
	for _, i := range indices {
		shown = append(shown, steps[i])
	}
	return shown
}
