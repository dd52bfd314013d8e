package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/explain"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// The columns of an explanation.
const (
	textWidth  = 92
	labelWidth = 12
)

// mostListed limits a list within an explanation.
const mostListed = 12

// explanationWriter writes labels followed by lines.
type explanationWriter struct {
	out   strings.Builder
	style cli.Style
}

func (w *explanationWriter) line(format string, args ...any) {
	fmt.Fprintf(&w.out, format+"\n", args...)
}

// entry writes lines after a label.
func (w *explanationWriter) entry(label string, lines ...string) {
	for i, text := range lines {
		if i > 0 {
			label = ""
		}
		w.line("  %s%s", w.style.Dim(label)+strings.Repeat(" ", labelWidth-2-len(label)), text)
	}
}

// list writes the rows of a table after a label, limited to a readable number.
func (w *explanationWriter) list(label string, rows [][]cli.Cell) {
	var table cli.Table
	for _, row := range rows[:min(len(rows), mostListed)] {
		table.Row(row...)
	}
	lines := strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n")
	if more := len(rows) - mostListed; more > 0 {
		lines = append(lines, w.style.Dim(fmt.Sprintf("and %d more", more)))
	}
	w.entry(label, lines...)
}

// fieldLines are fields with their descriptions. What does not fit on a line is indented on the next ones.
func fieldLines(fields []explain.Listed) (lines []string) {
	for _, f := range fields {
		for i, line := range cli.Wrap(f.Path+": "+f.Description, textWidth-labelWidth-2) {
			if i > 0 {
				line = "  " + line
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// rowsOf are the rows of a table with one column.
func rowsOf(texts []string) (rows [][]cli.Cell) {
	for _, text := range texts {
		rows = append(rows, []cli.Cell{{Text: text}})
	}
	return rows
}

// fieldText formats the explanation of a field for people.
func fieldText(x *explain.Explanation, style cli.Style) string {
	w := &explanationWriter{style: style}
	w.line("%s", style.Bold(cli.Line(x.Field)))
	for _, line := range cli.Wrap(x.Description, textWidth) {
		w.line("  %s", line)
	}
	w.line("")
	if x.Takes != "" {
		w.entry("Takes", cli.Wrap(x.Takes, textWidth-labelWidth)...)
	}
	given := x.File != ""
	if given {
		w.entry("Value", ownValue(x))
	}
	if x.From != "" {
		w.entry("From", cli.Line(x.From))
	}
	w.entry("Default", valueOrNone(x.Default, "none"))
	if x.KubeletDefault != "" {
		w.entry("Kubelet", cli.Wrap("takes "+x.KubeletDefault+" if nothing sets it", textWidth-labelWidth)...)
	}
	if len(x.Fields) > 0 {
		w.entry("Fields", fieldLines(x.Fields)...)
	}
	var fields [][]cli.Cell
	for _, b := range coarser(x.Becomes) {
		row := []cli.Cell{{Text: b.Path}}
		if given && !b.several {
			row = append(row, cli.Cell{Text: "= " + cli.Shorten(valueOrNone(b.Value, "(not set)"), shownValue), Paint: style.Dim})
		}
		fields = append(fields, row)
	}
	switch {
	case len(fields) == 0:
	case x.Dialect == dialect.Native:
		w.list("Sets too", fields)
	default:
		w.list("Becomes", fields)
	}
	w.entry("Applied", cli.Wrap(appliedInWords(x), textWidth-labelWidth)...)
	if len(x.NotApplied) > 0 {
		w.list("But not", rowsOf(x.NotApplied))
	}
	for _, tag := range x.Tags {
		w.entry("Tag", cli.Wrap(tagInWords(tag), textWidth-labelWidth)...)
	}
	w.entry("Computed", computedInWords(x)...)
	var resources [][]cli.Cell
	for _, r := range x.Resources {
		resources = append(resources, dependentRow(r, style))
	}
	switch {
	case !x.Planned:
		w.entry("Ends in", "not known, because the contract has errors")
	case len(resources) == 0 && x.Why != "":
		w.entry("Ends in", cli.Wrap("nothing in the plan: "+x.Why, textWidth-labelWidth)...)
	case len(resources) == 0:
		w.entry("Ends in", "nothing in the plan")
	default:
		w.list("Ends in", resources)
	}
	for _, p := range x.Problems {
		label, paint := "Warning", style.Yellow
		if p.Fatal {
			label, paint = "Error", style.Red
		}
		text := p.Reason
		if p.Path != x.Field {
			text = p.Path + " " + p.Reason
		}
		for i, line := range cli.Wrap(text, textWidth-labelWidth) {
			if i > 0 {
				label = ""
			}
			w.entry(label, paint(line))
		}
	}
	return w.out.String()
}

// appliedInWords describes whether a field is applied, and which concerns read it.
func appliedInWords(x *explain.Explanation) string {
	said := func(kind nodeconfig.ProblemKind) bool {
		return slices.ContainsFunc(x.Problems, func(p nodeconfig.Problem) bool { return p.Kind == kind && document.Within(x.Field, p.Path) })
	}
	switch readers := x.Readers(); {
	case !x.Applied && (x.Why != "" || said(nodeconfig.NoEffect)):
		return "no"
	case !x.Applied:
		return "no, not by this version"
	case readers == "":
		return "yes"
	case said(nodeconfig.NotApplied):
		return "in some contracts; read by " + readers
	default:
		return "yes; read by " + readers
	}
}

// computedInWords are the lines that explain each number that the planner derives from the field.
func computedInWords(x *explain.Explanation) []string {
	var lines []string
	for _, step := range x.Computed {
		lines = append(lines, cli.Wrap(step.Name+" "+step.Value+" = "+step.How+" ("+step.Source+")", textWidth-labelWidth)...)
	}
	return lines
}

// listItem is a step to an item of a list.
var listItem = regexp.MustCompile(`\[[0-9]+\]`)

// shownField is a field of the NodeConfig as it is listed.
type shownField struct {
	explain.Becomes
	// several reports that it represents several fields of a list.
	several bool
}

// coarser combines the items of lists if there are more fields than a person reads.
func coarser(all []explain.Becomes) []shownField {
	var kept []shownField
	for _, b := range all {
		shown := shownField{Becomes: b}
		if at := listItem.FindStringIndex(b.Path); at != nil && len(all) > mostListed {
			shown = shownField{explain.Becomes{Path: b.Path[:at[0]]}, true}
		}
		if !slices.ContainsFunc(kept, func(k shownField) bool { return k.Path == shown.Path }) {
			kept = append(kept, shown)
		}
	}
	return kept
}

// ownValue is the value of the field itself.
func ownValue(x *explain.Explanation) string {
	if !x.Set {
		return "not set"
	}
	return valueOrNone(x.Value, "not set")
}

// valueOrNone is the readable beginning of a JSON value in one line.
func valueOrNone(value json.RawMessage, none string) string {
	switch {
	case len(value) == 0:
		return none
	case string(value) == strconv.Quote(nodeconfig.Redacted):
		return nodeconfig.Redacted
	}
	return cli.Shorten(cli.Line(string(value)), textWidth-labelWidth)
}

// dependentRow formats a resource as a row of an explanation.
func dependentRow(r explain.Dependent, style cli.Style) []cli.Cell {
	kind, name, _ := strings.Cut(string(r.ID), ":")
	remark := cli.Cell{Paint: style.Dim}
	switch {
	case !r.Planned:
		remark.Text = "with another value"
	case len(r.Restarts) > 0:
		remark.Text = "restarts " + cli.List(resource.ShortUnits(r.Restarts), "and")
	}
	return []cli.Cell{{Text: kind}, {Text: name}, remark}
}

// tagInWords describes a tag's effect, and whether this version reads it.
func tagInWords(tag facts.Tag) string {
	text := fmt.Sprintf("%s (%s): %s", tag.Name, tag.Value, tag.Changes)
	if tag.Unused != "" {
		text += "; not read by this version"
	}
	return text
}

// tagText formats a tag for people.
func tagText(tag facts.Tag, style cli.Style) string {
	w := &explanationWriter{style: style}
	w.line("%s", style.Bold(tag.Name))
	w.line("")
	w.entry("Value", tag.Value)
	w.entry("Changes", cli.Wrap(tag.Changes, textWidth-labelWidth)...)
	applied := "yes: it is asked for once, before the node is planned, where the contract lets it change something"
	if tag.Unused != "" {
		applied = "no: " + tag.Unused
	}
	w.entry("Applied", cli.Wrap(applied, textWidth-labelWidth)...)
	if len(tag.Settings) > 0 {
		w.list("Fields", rowsOf(tag.Settings))
	}
	w.entry("From", tag.Source)
	return w.out.String()
}

// codeText formats an exit code for people.
func codeText(code exitcode.Code, style cli.Style) string {
	w := &explanationWriter{style: style}
	w.line("%s", style.Bold(fmt.Sprintf("%d %s", code.Number, code.Name)))
	w.line("")
	w.entry("Meaning", cli.Wrap(code.Meaning, textWidth-labelWidth)...)
	w.entry("To do", cli.Wrap(code.Action, textWidth-labelWidth)...)
	for _, cloud := range slices.Sorted(maps.Keys(code.Clouds)) {
		w.entry("On "+cloud, cli.Wrap(code.Clouds[cloud], textWidth-labelWidth)...)
	}
	from := "Slipway"
	if code.Source == exitcode.AKS {
		from = "the scripts of AKS images; Slipway itself never returns it"
	}
	w.entry("From", from)
	return w.out.String()
}
