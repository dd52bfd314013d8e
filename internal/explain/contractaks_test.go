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
	e := effectsOf(row.of)
	var names []string
	for _, r := range e.Resources[:min(len(e.Resources), 2*mostNamed)] {
		name := "`" + r.Name + "`"
		if !r.Planned {
			name = "(" + name + ")"
		}
		names = append(names, name)
	}
	text := strings.Join(names, ", ")
	if more := len(e.Resources) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return strings.Join([]string{text, strings.Join(e.Phases, ", "), strings.Join(e.Changes, ", "), strings.Join(e.Codes, ", ")}, " | ")
}

// effects are what depends on a field on the node, in words.
type effects struct {
	// Resources are sorted: those in the example's plan come first.
	Resources []effect `json:"resources,omitempty"`
	Phases    []string `json:"phases,omitempty"`
	// Changes are the units that restart or reload when the field changes.
	Changes []string `json:"changes,omitempty"`
	Codes   []string `json:"codes,omitempty"`
}

// effect is a resource.
type effect struct {
	Name string `json:"name"`
	// Planned is false for a resource that only another value would add.
	Planned bool `json:"planned"`
}

func effectsOf(x *Explanation) effects {
	var e effects
	phases, changes, codes := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for _, d := range x.Resources {
		kind, name, _ := strings.Cut(string(d.ID), ":")
		if kind != "File" {
			name = resource.Words(kind) + " " + name
		}
		e.Resources = append(e.Resources, effect{name, d.Planned})
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
	slices.SortStableFunc(e.Resources, func(a, b effect) int {
		return cmp.Compare(strconv.FormatBool(b.Planned), strconv.FormatBool(a.Planned))
	})
	e.Phases, e.Changes, e.Codes = slices.Sorted(maps.Keys(phases)), slices.Sorted(maps.Keys(changes)), slices.Sorted(maps.Keys(codes))
	return e
}
