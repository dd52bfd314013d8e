package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/resource"
)

// widestName bounds the column of a resource's name.
const widestName = 58

// shownDigest is how much of a digest people compare.
const shownDigest = 12

// phases are in the order in which they are applied.
var phases = []struct {
	phase   resource.Phase
	meaning string
}{
	{resource.Base, "needs no cluster, an image can be baked with it"},
	{resource.Join, "needs the cluster, or this node's own values"},
}

// planText is a plan as a table.
func planText(c *contract, p resource.Plan, style cli.Style) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s  %s, config %s\n", style.Bold(cli.Line(title(c.name))), versionInWords(c), p.Config[:min(shownDigest, len(p.Config))])
	for _, phase := range phases {
		part := p.Only(phase.phase)
		if len(part.Resources) == 0 {
			continue
		}
		fmt.Fprintf(&out, "\n%s  %s\n\n", style.Bold(string(phase.phase)), style.Dim(phase.meaning))
		table := cli.Table{Indent: "  ", Widest: widestName}
		header := func(text string) cli.Cell { return cli.Cell{Text: text, Paint: style.Dim} }
		table.Row(header("KIND"), header("MODE"), header("RESTARTS"), header("NAME"), header("WHAT AND WHY"))
		for _, r := range part.Resources {
			table.Row(resourceRow(r, style)...)
		}
		out.WriteString(table.String())
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

// resourceRow is a resource as a row of the plan's table.
func resourceRow(r resource.Resource, style cli.Style) []cli.Cell {
	shown := r.Spec.Describe()
	modeCell := cli.Cell{Text: shown.Mode}
	if shown.Secret {
		modeCell = cli.Cell{Text: shown.Mode + " secret", Paint: style.Yellow}
	}
	why := r.Reason
	if shown.What != "" {
		why = strings.TrimSuffix(shown.What+"; "+r.Reason, "; ")
	}
	return []cli.Cell{
		{Text: r.Spec.Kind()},
		modeCell,
		{Text: strings.Join(r.Effects.Units(), ","), Paint: style.Cyan},
		{Text: shown.Title, Paint: style.Bold},
		{Text: why, Paint: style.Dim},
	}
}

// planSummary counts what a plan holds.
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
