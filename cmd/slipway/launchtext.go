package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// launchResult is the result of launch as JSON. It is also a record, unless no machine would be launched.
type launchResult struct {
	*launch.Record // nil if no machine would be launched
	// Document is the node's contract and the machine, as in the record.
	Document json.RawMessage `json:"document,omitempty"`
	// Explanation has the values' sources; with --explain only.
	Explanation []launch.Value `json:"explanation,omitempty"`
	// NotTaken are the images that were not chosen, with the reasons.
	NotTaken []azure.Reason       `json:"imagesNotTaken"`
	Problems []nodeconfig.Problem `json:"problems"`
	// Variables are the script's variables; with --script only.
	Variables []azure.ScriptVariable `json:"scriptVariables,omitempty"`
}

func (l *launching) json(made *launch.Launch, explanation []launch.Value) launchResult {
	record := l.record(made)
	whole, _ := record.Whole() // this cannot fail for a record that was made here
	result := launchResult{Record: record, Document: whole, NotTaken: l.notTaken(made), Problems: append([]nodeconfig.Problem{}, l.problems...)}
	if l.script {
		// A token of the right form; the report has no values.
		_, result.Variables, _ = azure.Script(made, nodeconfig.NewSecret("000000.0000000000000000"))
	}
	if l.explain {
		result.Explanation = explanation
	}
	return result
}

// record is the launch's record. A machine with a script of variables has no extension.
func (l *launching) record(made *launch.Launch) *launch.Record {
	r := *made.Record()
	if l.script {
		r.ExtensionCommand = ""
	}
	return &r
}

// notTaken are the reasons against images.
func (l *launching) notTaken(made *launch.Launch) []azure.Reason {
	if l.cloud.Images == nil {
		return []azure.Reason{}
	}
	_, against, _ := l.cloud.Images.Choose(&made.Document().Machine, l.cloud.Settings)
	return append([]azure.Reason{}, against...)
}

// shownReasons limits how many images that were not chosen are shown to people.
const shownReasons = 10

// shown are the values that a person looks for first, with their titles.
var shown = []struct{ title, path string }{
	{"image", "$.machine.image.id"},
	{"family", "$.machine.image.family"},
	{"size", "$.machine.type.name"},
	{"zone", "$.machine.zone"},
	{"capacity type", "$.machine.capacityType"},
	{"disk, GB", "$.machine.disk.sizeGB"},
	{"disk on the host", "$.machine.disk.placement"},
	{"subnet", "$.machine.network.subnet"},
	{"security group", "$.machine.network.securityGroup"},
	{"addresses", "$.machine.network.addresses"},
	{"Kubernetes", "$.node.cluster.kubernetesVersion"},
	{"API server", "$.node.cluster.server"},
	{"pods", "$.node.kubelet.config.maxPods"},
	{"kept back, CPU", "$.node.kubelet.config.kubeReserved.cpu"},
	{"kept back, memory", "$.node.kubelet.config.kubeReserved.memory"},
	{"allocatable memory", "$.machine.allocatable.memory"},
	{"network plug-in", "$.node.network.plugin"},
	{"own user data", "$.machine.userData"},
}

// text formats the result for people: what would be launched, or with --explain the source of each value.
func (l *launching) text(made *launch.Launch, explanation []launch.Value, style cli.Style) string {
	table := cli.Table{Widest: shownValue}
	if l.explain {
		for _, v := range explanation {
			table.Row(cli.Cell{Text: v.Path, Paint: style.Bold}, cli.Cell{Text: cli.Shorten(v.Value, shownValue)}, cli.Cell{Text: string(v.Source)}, cli.Cell{Text: v.Where(), Paint: style.Dim})
			for _, o := range v.Overrode {
				table.Row(cli.Cell{Text: "  overrode", Paint: style.Dim}, cli.Cell{Text: cli.Shorten(o.Value, shownValue)}, cli.Cell{Text: string(o.Source)}, cli.Cell{Text: o.Where() + ": " + o.Reason, Paint: style.Dim})
			}
		}
		return table.String()
	}
	record := l.record(made)
	table.Row(cli.Cell{Text: "key", Paint: style.Dim}, cli.Cell{Text: record.Key, Paint: style.Bold})
	values := make(map[string]string, len(explanation))
	for _, v := range explanation {
		values[v.Path] = v.Value
	}
	for _, row := range shown {
		if v, ok := values[row.path]; ok {
			table.Row(cli.Cell{Text: row.title, Paint: style.Dim}, cli.Cell{Text: v})
		}
	}
	table.Row(cli.Cell{Text: "extension", Paint: style.Dim}, cli.Cell{Text: cmp.Or(record.ExtensionCommand, "none")})
	for _, taint := range made.Document().Node.Kubelet.Taints {
		table.Row(cli.Cell{Text: "taint", Paint: style.Dim}, cli.Cell{Text: taint.String()})
	}
	for _, prefix := range []struct{ title, path string }{{"label", "$.node.kubelet.labels"}, {"tag", "$.machine.tags"}} {
		for _, v := range made.Explain(prefix.path) {
			name := strings.Trim(strings.TrimPrefix(v.Path, prefix.path), `.[]"`)
			table.Row(cli.Cell{Text: prefix.title, Paint: style.Dim}, cli.Cell{Text: name + "=" + v.Value})
		}
	}
	for _, name := range record.Annotations {
		table.Row(cli.Cell{Text: "annotation", Paint: style.Dim}, cli.Cell{Text: name + " (the controller sets it)"})
	}
	return table.String() + notTakenText(l.notTaken(made), style)
}

// notTakenText formats the reasons against images for people.
func notTakenText(against []azure.Reason, style cli.Style) (text string) {
	for i, r := range against {
		if i == shownReasons {
			text += style.Dim(fmt.Sprintf("not taken: %d more; -o json has all", len(against)-i)) + "\n"
			break
		}
		text += style.Dim(cli.Line(fmt.Sprintf("not taken: %s: %s", r.ID, r.Reason))) + "\n"
	}
	return text
}
