package text

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/anatomy"
	"github.com/slipway-dev/slipway/internal/cli"
)

const (
	// nameColumn is the width of the spans' names, and timeColumn that of a time.
	nameColumn, timeColumn = 34, 9
	// mostRows limits the picture to what fits a screen.
	mostRows = 40
	// leastBar is the narrowest picture of the time.
	leastBar = 10
)

// The marks of a span's bar: on the critical path, and beside it.
const critical, beside = "█", "░"

// picture draws the spans to scale, in the order of their start.
func picture(t *anatomy.Timeline, style cli.Style) string {
	rows := anatomy.Rows(t, mostRows)
	width := style.Width()
	name := 0
	for _, s := range rows {
		name = max(name, utf8.RuneCountInString(cli.Shorten(cli.Line(anatomy.Label(t, s)), nameColumn)))
	}
	bar := max(leastBar, width-2-name-2*timeColumn-4)
	from, to := anatomy.Extent(t)
	var out strings.Builder
	out.WriteString(style.Dim(fmt.Sprintf("  %s %*s %*s  %s", pad("", name), timeColumn, "START", timeColumn, "TOOK", scale(from, to, bar))) + "\n")
	for _, s := range rows {
		mark, block, paint := " ", beside, style.Dim
		if s.Critical {
			mark, block, paint = "*", critical, style.Yellow
		}
		if s.Failed {
			paint = style.Red
		}
		begin := position(s.StartUs, from, to, bar)
		length := max(1, position(s.EndUs, from, to, bar)-begin)
		begin = min(begin, bar-length)
		took := anatomy.Seconds(s.EndUs - s.StartUs)
		if s.Open {
			took = "runs on"
		}
		out.WriteString(mark + " " + pad(cli.Shorten(cli.Line(anatomy.Label(t, s)), nameColumn), name) + fmt.Sprintf(" %*s %*s  ", timeColumn, anatomy.Seconds(s.StartUs), timeColumn, took) +
			strings.Repeat(" ", begin) + paint(strings.Repeat(block, length)) + "\n")
	}
	out.WriteString(style.Dim(fmt.Sprintf("* and %s: on the critical path to %q; %s: beside it.", critical, cli.Line(t.Goal), beside)))
	if hidden := len(t.Spans) - len(rows); hidden > 0 {
		out.WriteString(style.Dim(fmt.Sprintf(" %d shorter parts are not shown.", hidden)))
	}
	return out.String() + "\n"
}

// position is a time's column.
func position(us, from, to int64, columns int) int {
	share := float64(us-from) / float64(max(to-from, 1))
	return int(math.Round(min(max(share, 0), 1) * float64(columns)))
}

// scale is the line with the times over the picture.
func scale(from, to int64, columns int) string {
	const mark = 12 // columns for a time and its distance
	line := []byte(strings.Repeat(" ", columns))
	step := anatomy.RoundStep(to-from, max(1, columns/mark))
	for at := (from + step - 1) / step * step; at <= to; at += step {
		text := fmt.Sprintf("|%g s", float64(at)/1e6)
		if n := position(at, from, to, columns); n+len(text) <= columns {
			copy(line[n:], text)
		}
	}
	return strings.TrimRight(string(line), " ")
}

func pad(text string, n int) string {
	return text + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(text)))
}
