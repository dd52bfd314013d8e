package cli

import (
	"io"
	"os"
)

// Style colours text, or leaves it as it is. The zero value leaves it.
type Style struct{ colour bool }

// StyleOf returns the style for a stream: colour on a terminal only, and not where NO_COLOR is set
// (no-color.org) or the terminal is a dumb one.
func StyleOf(w io.Writer) Style {
	return Style{IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

func (s Style) paint(code, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold is for what the eye looks for first.
func (s Style) Bold(text string) string { return s.paint("1", text) }

// Dim is for what can be skipped.
func (s Style) Dim(text string) string { return s.paint("2", text) }

// Red is for errors and for what goes.
func (s Style) Red(text string) string { return s.paint("31", text) }

// Green is for success and for what comes.
func (s Style) Green(text string) string { return s.paint("32", text) }

// Yellow is for warnings and for what changes.
func (s Style) Yellow(text string) string { return s.paint("33", text) }

// Cyan is for places within something longer.
func (s Style) Cyan(text string) string { return s.paint("36", text) }
