package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/resource"
)

// shownValue bounds what is shown of a value.
const shownValue = 60

// diffText is a comparison for people. Nothing is said where there is no difference, as diff(1) has
// it.
func diffText(c *comparison, style cli.Style) string {
	if c.Same {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n%s\n", style.Red("--- "+sideInWords(c.A)), style.Green("+++ "+sideInWords(c.B)))
	wholeResources(&out, style.Red, "-", c.Removed, style)
	wholeResources(&out, style.Green, "+", c.Added, style)
	for _, r := range c.Changed {
		partOfResource(&out, r, style)
	}
	fmt.Fprintf(&out, "\n%d removed, %d added, %d changed", len(c.Removed), len(c.Added), len(c.Changed))
	if len(c.Restarts) > 0 {
		out.WriteString("; restarts " + style.Cyan(cli.Line(cli.List(shortUnits(c.Restarts), "and"))))
	}
	out.WriteString("\n")
	return out.String()
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

// wholeResources tells of resources that only one of the plans has.
func wholeResources(out *strings.Builder, paint func(string) string, sign string, resources []resource.Resource, style cli.Style) {
	if len(resources) > 0 {
		out.WriteString("\n")
	}
	for _, r := range resources {
		mode, what := particulars(r.Spec)
		if file, ok := r.Spec.(*resource.File); ok && file.Secret {
			mode += " secret"
		}
		line := sign + " " + r.Spec.Kind() + " " + nameInWords(r.Spec)
		fmt.Fprintf(out, "%s%s\n", paint(cli.Line(line)), aside(style, mode, what))
	}
}

// partOfResource tells what differs in a resource that both plans have.
func partOfResource(out *strings.Builder, r changedResource, style cli.Style) {
	restarts := ""
	if len(r.restarts) > 0 {
		units := slices.Compact(slices.Sorted(slices.Values(shortUnits(r.restarts))))
		restarts = "restarts " + cli.List(units, "and")
	}
	line := "~ " + r.spec.Kind() + " " + r.spec.Name()
	fmt.Fprintf(out, "\n%s%s\n", style.Yellow(cli.Line(line)), aside(style, restarts))
	for _, f := range r.Fields {
		fmt.Fprintf(out, "    %s: %s -> %s\n", cli.Line(strings.TrimPrefix(f.Path, "spec.")),
			style.Red(valueInWords(f.Old)), style.Green(valueInWords(f.New)))
	}
	switch {
	case r.ContentDiffers && r.Secret:
		out.WriteString("    secret content differs\n")
	case r.ContentDiffers && r.Content == "":
		out.WriteString("    content differs, and is no text\n")
	case r.ContentDiffers:
		hunks(out, r.Content, style)
	}
}

// hunks writes a unified diff without its header, which has been said.
func hunks(out *strings.Builder, text string, style cli.Style) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(cli.Clean(line), "\n")
		switch {
		case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			continue
		case strings.HasPrefix(line, "@@"):
			line = style.Cyan(line)
		case strings.HasPrefix(line, "-"):
			line = style.Red(line)
		case strings.HasPrefix(line, "+"):
			line = style.Green(line)
		}
		out.WriteString("    " + line + "\n")
	}
}

// aside writes remarks behind a line.
func aside(style cli.Style, remarks ...string) string {
	var said []string
	for _, r := range remarks {
		if r != "" {
			said = append(said, cli.Line(r))
		}
	}
	if len(said) == 0 {
		return ""
	}
	return "  " + style.Dim(strings.Join(said, "; "))
}

// valueInWords is a JSON value on one line, as much of it as is worth reading.
func valueInWords(value []byte) string {
	if len(value) == 0 {
		return "(none)"
	}
	return cli.Shorten(cli.Line(string(value)), shownValue)
}
