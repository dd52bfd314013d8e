package main

import (
	"github.com/slipway-dev/slipway/internal/cli"
)

// shownValue bounds what is shown of a value.
const shownValue = 60

// diffText is a comparison for people. Nothing is said where there is no difference, as diff(1) has
// it.
func diffText(c *comparison, style cli.Style) string {
	if c.Same {
		return ""
	}
	return style.Red("--- "+sideInWords(c.A)) + "\n" + style.Green("+++ "+sideInWords(c.B)) + "\n" + c.Text(style)
}

func sideInWords(s side) string {
	words := title(s.File) + " "
	if s.Dialect != "" {
		words += " " + s.Dialect
	}
	if s.Config != "" {
		words += " config " + s.Config[:min(shownDigest, len(s.Config))]
	}
	return cli.Line(words)
}
