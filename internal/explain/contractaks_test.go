package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
)

const contractHead = `# AKS's contract on a node

What each field of ` + "`aksnodeconfig.v1`" + ` does on the node: the resources of the plan that depend on it, when they are brought
about, what restarts or reloads when the field changes on a running node, and the exit code of a provisioning that fails at
one of them (240 if it has no other).

* The phase *base* can be applied to an image before there is a cluster, *join* needs the cluster.
* A resource in parentheses is there with another value than that of the example only.
* A field that is not applied says why. [fields.md](fields.md) has the fields of Slipway's own contract, and what each field takes.
* [compatibility.md](compatibility.md) says where the node differs from one that AKS's scripts make.

This page is generated (` + "`make golden`" + `) from the planner, with the contracts of [examples](../examples).
`

// contractOfAKS is docs/contract-aks.md, with a table for each message. The table of the contract's top-level fields is
// first.
func contractOfAKS(rows []fieldRow) []byte {
	tables := make(map[string]string)
	for _, row := range rows {
		message, name := "", strings.TrimPrefix(row.path, "$.")
		if i := strings.LastIndexByte(name, '.'); i >= 0 {
			message, name = name[:i], name[i+1:]
		}
		tables[message] += fmt.Sprintf("| `%s` | %s | %s |\n", name, strings.ReplaceAll(row.of.Description, "|", "\\|"), onNode(row))
	}
	var out strings.Builder
	out.WriteString(contractHead)
	for _, message := range slices.Sorted(maps.Keys(tables)) {
		title := "The contract itself"
		if message != "" {
			title = "`" + message + "`"
		}
		fmt.Fprintf(&out, "\n## %s\n\n| field | what it does | on the node | phase | when it changes | exit code |\n|---|---|---|---|---|---|\n%s", title, tables[message])
	}
	return []byte(out.String())
}

// onNode are the table cells with a field's effects.
func onNode(row fieldRow) string {
	if row.state != applied {
		return row.state + ": " + cmp.Or(row.where, "no concern reads it") + " | | |"
	}
	if len(row.of.Resources) == 0 {
		return row.where + " | | |"
	}
	var names []string
	phases, changes, codes := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for _, d := range shown(row.of.Resources) {
		kind, name, _ := strings.Cut(string(d.ID), ":")
		if kind != "File" {
			name = resource.Words(kind) + " " + name
		}
		name = "`" + name + "`"
		if !d.Planned {
			name = "(" + name + ")"
		}
		names = append(names, name)
	}
	for _, d := range row.of.Resources {
		phases[string(d.Phase)] = true
		for _, unit := range resource.ShortUnits(d.Restarts) {
			changes["restarts "+unit] = true
		}
		for _, unit := range resource.ShortUnits(d.Reloads) {
			changes["reloads "+unit] = true
		}
		if d.ExitCode != 0 {
			codes[strconv.Itoa(d.ExitCode)] = true
		}
	}
	text := strings.Join(names, ", ")
	if more := len(row.of.Resources) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return strings.Join([]string{text, joined(phases), joined(changes), joined(codes)}, " | ")
}

// shown are the resources that a row names. Those in the example's plan come first.
func shown(all []Dependent) []Dependent {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b Dependent) int {
		return cmp.Compare(strconv.FormatBool(b.Planned), strconv.FormatBool(a.Planned))
	})
	return sorted[:min(len(sorted), 2*mostNamed)]
}

func joined(all map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(all)), ", ")
}
