package main

import (
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
)

// shownValue limits how much of a value is shown.
const shownValue = 60

// diffText formats a comparison for people. Like diff(1), it prints nothing if there is no difference.
func diffText(c *comparison, style cli.Style) string {
	if c.Same {
		return "no difference\n"
	}
	return style.Red("--- "+sideInWords(c.A)) + "\n" + style.Green("+++ "+sideInWords(c.B)) + "\n" + c.Text(style)
}

func sideInWords(s side) string {
	words := command.Title(s.File) + " "
	if s.Dialect != "" {
		words += " " + s.Dialect
	}
	if s.Config != "" {
		words += " config " + s.Config[:min(shownDigest, len(s.Config))]
	}
	return cli.Line(words)
}
