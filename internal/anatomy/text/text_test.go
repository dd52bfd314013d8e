package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/anatomy"
	"github.com/slipway-dev/slipway/internal/anatomy/record"
	"github.com/slipway-dev/slipway/internal/cli"
)

// Texts of a timeline do not steer a terminal, and no line of the picture is longer than the terminal is wide.
func TestPrintIsForATerminal(t *testing.T) {
	const hostile = "a\x1b[2Jb\u202ec\r\n<script>"
	timeline := &anatomy.Timeline{Host: hostile, Boot: hostile, Goal: hostile, GoalUs: 12_345_678, Story: []string{hostile}, Waits: []anatomy.Wait{{Sentence: hostile}},
		Path: []anatomy.Link{{Span: 0, Kind: anatomy.Idle, EndUs: 5}, {Span: 1, Kind: anatomy.Waits, StartUs: 5, EndUs: 9}}, Idle: []anatomy.Interval{{EndUs: 5}},
		Unread: []record.Unread{{Document: hostile, Line: 3, Reason: hostile}}, Sources: []record.Source{{Document: hostile, OtherBoots: 2}}}
	for i := range 60 {
		timeline.Spans = append(timeline.Spans, anatomy.Span{ID: i, Name: strings.Repeat(hostile, i%5+1), StartUs: int64(i-3) * 200_000, EndUs: int64(i) * 210_000, Critical: i%2 == 0,
			Failed: i%7 == 0, In: hostile, For: hostile})
	}
	var style cli.Style
	for line := range strings.Lines(Print(timeline, style)) {
		line = strings.TrimSuffix(line, "\n")
		for _, r := range line {
			if !unicode.IsPrint(r) {
				t.Errorf("%q has the character %q", line, r)
			}
		}
		if n := utf8.RuneCountInString(line); n > style.Width() {
			t.Errorf("a line of %d columns: %q", n, line)
		}
	}
}

// A timeline without anything is printed, too.
func TestPrintNothing(t *testing.T) {
	if got := Print(&anatomy.Timeline{}, cli.Style{}); !strings.Contains(got, "Read 0 documents") {
		t.Errorf("printed as %q", got)
	}
}
