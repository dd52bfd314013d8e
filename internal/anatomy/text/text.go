// Package text prints a boot's timeline for people: a picture in the width of the terminal, the critical path, the longest waits and
// the boot's story.
package text

import (
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/anatomy"
	"github.com/slipway-dev/slipway/internal/cli"
)

// shownUnread is how many unread parts are named; the JSON form has all.
const shownUnread = 10

// Print formats a timeline.
func Print(t *anatomy.Timeline, style cli.Style) string {
	var out strings.Builder
	out.WriteString(title(t, style) + "\n\n")
	if len(t.Spans) > 0 {
		out.WriteString(picture(t, style) + "\n")
	}
	section := func(name string) { out.WriteString(style.Bold(name) + "\n") }
	if len(t.Path) > 0 {
		section("Critical path")
		out.WriteString(path(t, style) + "\n")
	}
	if len(t.Waits) > 0 {
		section("Longest waits")
		for i, w := range t.Waits {
			paragraph(&out, fmt.Sprintf("%d. ", i+1), w.Sentence, style)
		}
		if idle := idleText(t); idle != "" {
			paragraph(&out, "   ", idle, style)
		}
		out.WriteString("\n")
	}
	if len(t.Story) > 0 {
		section("What happened")
		for _, sentence := range t.Story {
			paragraph(&out, "- ", sentence, style)
		}
		out.WriteString("\n")
	}
	out.WriteString(read(t, style))
	return out.String()
}

func title(t *anatomy.Timeline, style cli.Style) string {
	host := t.Host
	if host == "" {
		host = "a machine"
	}
	text := style.Bold(cli.Line(host))
	if t.Boot != "" {
		text += style.Dim("  boot " + cli.Line(t.Boot))
	}
	return text + "\n" + cli.Line(t.Goal) + " at " + style.Bold(anatomy.Seconds(t.GoalUs)) + " " + style.Dim(axis(t))
}

// axis describes what the times count from.
func axis(t *anatomy.Timeline) string {
	if t.Clock.Relative {
		return "after the first record"
	}
	text := "after the kernel's start"
	if t.Clock.AccuracyUs > 1000 {
		text += fmt.Sprintf(", to %d ms (clock: %s)", t.Clock.AccuracyUs/1000, cli.Line(t.Clock.From))
	}
	return text
}

// paragraph writes a text in lines that fit, with a mark before the first one.
func paragraph(out *strings.Builder, mark, text string, style cli.Style) {
	for i, line := range cli.Wrap(text, style.Width()-2-len(mark)) {
		if i > 0 {
			mark = strings.Repeat(" ", len(mark))
		}
		out.WriteString("  " + mark + line + "\n")
	}
}

// idleText is how long nothing ran.
func idleText(t *anatomy.Timeline) string {
	var sum, longest int64
	for _, i := range t.Idle {
		sum += i.EndUs - i.StartUs
		longest = max(longest, i.EndUs-i.StartUs)
	}
	if sum == 0 {
		return ""
	}
	return fmt.Sprintf("Nothing that these documents know ran for %s in total, the longest time %s.", anatomy.Seconds(sum), anatomy.Seconds(longest))
}

// path is the critical path as a table.
func path(t *anatomy.Timeline, style cli.Style) string {
	table := cli.Table{Indent: "  ", Widest: 40}
	// A data source of cloud-init records fifty steps of a millisecond.
	least, short, together := t.GoalUs/1000, 0, int64(0)
	for _, l := range t.Path {
		if took := l.EndUs - l.StartUs; took < least {
			short, together = short+1, together+took
			continue
		}
		s := t.Spans[l.Span]
		name, what := s.Name, string(s.Stage)
		switch l.Kind {
		case anatomy.Idle:
			name, what = "(nothing recorded)", "before "+s.Name
		case anatomy.Waits:
			what = "waits for " + s.For
		}
		table.Row(
			cli.Cell{Text: fmt.Sprintf("%10s", anatomy.Seconds(l.StartUs)), Paint: style.Dim},
			cli.Cell{Text: "+" + anatomy.Seconds(l.EndUs-l.StartUs)},
			cli.Cell{Text: cli.Shorten(name, 40), Paint: style.Bold},
			cli.Cell{Text: what, Paint: style.Dim},
		)
	}
	text := table.String()
	if short > 0 {
		text += style.Dim(fmt.Sprintf("  Not shown: %s of less than %s each, %s together.", cli.Plural(short, "part"), anatomy.Seconds(least), anatomy.Seconds(together))) + "\n"
	}
	return text
}

// read says which documents were read, and what could not be read.
func read(t *anatomy.Timeline, style cli.Style) string {
	var out strings.Builder
	var kinds []string
	others := 0
	for _, s := range t.Sources {
		kinds = append(kinds, s.Document)
		others += s.OtherBoots
	}
	text := "Read " + cli.Plural(len(kinds), "document")
	if n := len(kinds); n > 0 && n <= shownUnread {
		text += ": " + strings.Join(kinds, ", ")
	}
	if others > 0 {
		text += "; " + cli.Plural(others, "record") + " of other boots or machines, or without a place on the clock, left out"
	}
	paragraph(&out, "", text+".", style)
	for i, u := range t.Unread {
		if i == shownUnread {
			paragraph(&out, "", fmt.Sprintf("%d more parts were not read; -o json names them.", len(t.Unread)-i+t.Omitted), style)
			break
		}
		where := u.Document
		if u.Line > 0 {
			where += fmt.Sprintf(":%d", u.Line)
		}
		paragraph(&out, "not read: ", fmt.Sprintf("%s: %s", where, u.Reason), style)
	}
	return out.String()
}
