package boot

import (
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/test/e2e/scenario"
)

// kernelStart is the event from which the founding figures count.
const kernelStart = "kernel"

// founding is a boot of an AKS node according to the README of its node controller (AgentBaker, aks-node-controller/README.md,
// "Extracting Provision Status": an example of provision-wait's output). A moment is in seconds after the kernel's start; for our
// variants it is the first of the events that a variant has.
var founding = []struct {
	event  string
	after  float64
	events []string
}{
	{"cloud-init local", 2, []string{"cloud-init local"}},
	{"networkd", 4, []string{"networkd"}},
	{"cloud-init network", 6, []string{"cloud-init network"}},
	{"guest agent", 20, nil},
	{"cloud-init final", 32, []string{"cloud-init final"}},
	{"provisioning starts", 33, []string{"script start", "agent running"}},
	{"kubelet exec", 47, []string{kubeletExec}},
	{"provisioning done", 51, []string{"agent done", "cloud-init final done"}},
}

// Founding has a row for each moment of the founding figures, and a column for each variant: seconds after the kernel's start.
func Founding(results []Result) Table {
	t := Table{Head: []string{"seconds after the kernel's start", "AKS, on hardware"}}
	for _, r := range results {
		t.Head = append(t.Head, r.Variant)
	}
	for _, moment := range founding {
		row := []string{moment.event, fmt.Sprintf("%.0f", moment.after)}
		for _, r := range results {
			at := scenario.Times(r.Timeline)
			i := slices.IndexFunc(moment.events, func(event string) bool { return at[event] > 0 })
			cell := nothing
			if i >= 0 && at[kernelStart] > 0 {
				cell = fmt.Sprintf("%.1f", at[moment.events[i]]-at[kernelStart])
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
