package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean replaces everything in a text that could control a terminal; line breaks and tabs stay. Text from a file goes
// through it before it is shown.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			return r
		case r == '\r':
			return -1
		}
		return '?'
	}, text)
}

// Line is Clean in one line.
func Line(text string) string { return strings.Join(strings.Fields(Clean(text)), " ") }

// Shorten shortens a text to at most n columns.
func Shorten(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:max(0, n-3)]) + "..."
}

// Wrap breaks a text between words into lines of at most n columns.
func Wrap(text string, n int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(Clean(text)) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= n:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Plural is a number with its noun: "1 error", "2 errors".
func Plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// List joins words as in a sentence: "a", "a and b", "a, b and c".
func List(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

// Size is a size for people, in units of 1000.
func Size(bytes int64) string {
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	case bytes < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%.2f GB", float64(bytes)/1e9)
}
