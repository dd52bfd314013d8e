package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Style colours text, or leaves it unchanged, and knows the width of lines. The zero value leaves text unchanged.
type Style struct {
	colour bool
	width  int
}

// defaultWidth is the width of lines if the stream is not a terminal. leastWidth is the smallest width on a terminal.
const defaultWidth, leastWidth = 100, 60

// Width returns how many columns a line may have.
func (s Style) Width() int {
	if s.width == 0 {
		return defaultWidth
	}
	return max(s.width, leastWidth)
}

// StyleOf returns the style for a stream: colour on a terminal only, and not if NO_COLOR is set (no-color.org) or the
// terminal is a dumb one.
func StyleOf(w io.Writer) Style {
	if !IsTerminal(w) {
		return Style{}
	}
	style := Style{colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	if columns, _, err := term.GetSize(int(fileOf(w).Fd())); err == nil {
		style.width = columns
	}
	return style
}

//go:noinline
func (s Style) paint(code, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold is for the most important text.
func (s Style) Bold(text string) string { return s.paint("1", text) }

// Dim is for text that readers can skip.
func (s Style) Dim(text string) string { return s.paint("2", text) }

// Red is for errors and for removals.
func (s Style) Red(text string) string { return s.paint("31", text) }

// Green is for success and for additions.
func (s Style) Green(text string) string { return s.paint("32", text) }

// Yellow is for warnings and for changes.
func (s Style) Yellow(text string) string { return s.paint("33", text) }

// Cyan is for locations within a longer text.
func (s Style) Cyan(text string) string { return s.paint("36", text) }
