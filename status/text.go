package status

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// width is the maximum number of columns of a report.
const width = 100

// ansi is an ANSI sequence's parameter.
type ansi string

const (
	bold   ansi = "1"
	dim    ansi = "2"
	red    ansi = "31"
	green  ansi = "32"
	yellow ansi = "33"
)

// printable returns s with all control characters replaced, except line breaks and tabs.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			return r
		case r == '\r':
			return '\n'
		default:
			return '?'
		}
	}, s)
}

// cell returns s on one line of at most n columns.
func cell(s string, n int) string {
	s = strings.Join(strings.Fields(printable(s)), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	if n <= 3 {
		return ""
	}
	return string([]rune(s)[:n-3]) + "..."
}

// pad returns s with spaces behind it, n columns wide.
func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s)))
}

// padLeft returns s with spaces before it, n columns wide.
func padLeft(s string, n int) string {
	return strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s))) + s
}

// maxParagraph limits the lines of a wrapped text.
const maxParagraph = 12

// wrap breaks s into lines of n columns, between words; a longer word is broken within.
func wrap(s string, n int) []string {
	var lines []string
	for paragraph := range strings.Lines(printable(s)) {
		line := ""
		for _, word := range strings.Fields(paragraph) {
			runes := []rune(word)
			if line != "" && utf8.RuneCountInString(line)+1+len(runes) <= n {
				line += " " + word
				continue
			}
			if line != "" {
				lines = append(lines, line)
			}
			for len(runes) > n {
				lines = append(lines, string(runes[:n]))
				runes = runes[n:]
			}
			line = string(runes)
		}
		if line != "" {
			lines = append(lines, line)
		}
		if len(lines) > maxParagraph {
			return append(lines[:maxParagraph-1], "...")
		}
	}
	return lines
}

// milliseconds formats a duration for people, in at most seven columns. A negative one is shown as
// 0.
func milliseconds(ms int64) string {
	switch ms = max(0, ms); {
	case ms < 1000:
		return fmt.Sprintf("%d ms", ms)
	case ms < 60_000:
		return fmt.Sprintf("%d.%d s", ms/1000, ms%1000/100)
	case ms < 3_600_000:
		return fmt.Sprintf("%dm%02ds", ms/60_000, ms%60_000/1000)
	case ms < 1000*3_600_000:
		return fmt.Sprintf("%dh%02dm", ms/3_600_000, ms%3_600_000/60_000)
	default:
		return ">999h"
	}
}

// plural returns a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
