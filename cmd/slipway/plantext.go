package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/resource"
)

// shownDigest is how much of a digest is shown to people.
const shownDigest = 12

// phases are in the order of application.
var phases = []struct {
	phase   resource.Phase
	meaning string
}{
	{resource.Base, "needs no cluster, an image can be baked with it"},
	{resource.Join, "needs the cluster, or this node's own values"},
}

// planText is a plan by phase and subject, in lines that fit the terminal.
func planText(c *contract, p resource.Plan, style cli.Style) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s  %s, config %s\n", style.Bold(cli.Line(command.Title(c.name))), versionInWords(c), p.Config[:min(shownDigest, len(p.Config))])
	for _, phase := range phases {
		part := p.Only(phase.phase)
		if len(part.Resources) == 0 {
			continue
		}
		fmt.Fprintf(&out, "\n%s  %s\n", style.Bold(string(phase.phase)), style.Dim(phase.meaning))
		for _, subject := range resource.Subjects {
			begun := false
			for _, r := range part.Resources {
				if r.Subject != subject {
					continue
				}
				if !begun {
					fmt.Fprintf(&out, "\n  %s\n", style.Bold(string(subject)))
					begun = true
				}
				out.WriteString(resourceText(r, style))
			}
		}
	}
	out.WriteString("\n" + planSummary(p) + "\n")
	return out.String()
}

func versionInWords(c *contract) string {
	if v := c.Config.Cluster.KubernetesVersion; v != "" {
		return c.inWords() + ", Kubernetes " + v
	}
	return c.inWords()
}

// resourceText formats a resource: what it is, which units restart with it, and behind or below that its reason.
func resourceText(r resource.Resource, style cli.Style) string {
	shown := r.Spec.Describe()
	kind, name := cli.Line(resource.Words(r.Spec.Kind())), cli.Line(shown.Title)
	width := len("    ") + utf8.RuneCountInString(kind+" "+name)
	line := "    " + style.Dim(kind) + " " + style.Bold(name)
	add := func(text string, paint func(string) string) {
		if text != "" {
			line += "  " + paint(text)
			width += len("  ") + utf8.RuneCountInString(text)
		}
	}
	add(shown.Mode, style.Dim)
	if shown.Secret {
		add("secret", style.Yellow)
	}
	if units := r.Effects.Units(); len(units) > 0 {
		add("restarts "+cli.Line(strings.Join(units, ", ")), style.Cyan)
	}
	why := cli.Line(strings.TrimPrefix(shown.What+"; ", "; ") + r.Reason)
	why = strings.TrimSuffix(why, ";")
	if width+len("  ")+utf8.RuneCountInString(why) <= style.Width() {
		add(why, style.Dim)
		return line + "\n"
	}
	for _, part := range cli.Wrap(why, style.Width()-len(whyIndent)) {
		line += "\n" + whyIndent + style.Dim(part)
	}
	return line + "\n"
}

// whyIndent precedes the lines of a reason that is below its resource.
const whyIndent = "        "

// planSummary counts a plan's resources.
func planSummary(p resource.Plan) string {
	counts, secrets := make(map[string]int), 0
	for _, r := range p.Resources {
		counts[r.Spec.Kind()]++
		if r.Spec.Describe().Secret {
			secrets++
		}
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		part := cli.Plural(counts[kind], resource.Words(kind))
		if kind == "File" && secrets > 0 {
			part += fmt.Sprintf(" (%d secret)", secrets)
		}
		parts = append(parts, part)
	}
	return cli.Plural(len(p.Resources), "resource") + ": " + cli.List(parts, "and")
}
