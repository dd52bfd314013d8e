package exitcode

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// scriptsOnly are the reasons why Slipway never returns a code of AKS's table.
var scriptsOnly = []struct {
	why   string
	codes []int
}{
	{"Slipway installs no package and changes none: the image has what a node needs", []int{9, 20, 23, 27, 38, 43, 48, 61, 62, 98, 99, 101, 102, 242}},
	{"Slipway downloads what a contract names a source of, and nothing else: a component that cannot be brought is 28, 29, 31, 41, 70, 71, 121, 122, 169, 203, 204, 205, 207 or 208", []int{21, 22, 25, 26, 33, 42, 44, 45, 60, 117, 152, 206, 231, 232, 241}},
	{"Slipway never uses docker", []int{24, 35, 116}},
	{"only the build of an image returns it", []int{111, 112, 113, 115, 125, 200, 201}},
	{"Slipway installs no driver and no service for GPUs and accelerators: an image that has none is 85, 95 or 235", []int{10, 83, 90, 91, 96, 225, 226, 227}},
	{"the agent does not wait for cloud-init or for files that others write", []int{5, 6, 100, 223}},
	{"the agent needs no guest agent, and leaves its package alone", []int{7, 8}},
	{"AKS's scripts do not return it any more either", []int{3, 30}},
	{"the kubelet pulls images and removes them; nothing else on the node does", []int{36, 37, 118, 119, 120, 214}},
	{"nothing on a node needs kubectl", []int{32}},
	{"a unit that cannot be masked, enabled or started is 4", []int{2}},
	{"the metadata service need not answer: what it says is a fact if it is there in time", []int{213, 224, 230, 234}},
	{"no name is looked up for a test; the API server's that does not resolve is 52 or 53, with each DNS server", []int{215}},
	{"a node works without the exporter of its GPUs' metrics, and nothing waits for it", []int{228, 229}},
	{"AKS's images have no monitor of streaming any more, and Slipway starts none", []int{154}},
	{"no packet filter is turned off: a node's own network needs its rules", []int{170}},
	{"the agent reads and writes certificates itself; an invalid one is an error of the contract", []int{160}},
	{"a rule that is gone is no error when it is removed", []int{176, 177}},
}

// Each code of AKS's table that Slipway does not return has one reason.
func TestScriptsOnly(t *testing.T) {
	seen := make(map[int]bool)
	for _, reason := range scriptsOnly {
		if !slices.IsSorted(reason.codes) {
			t.Errorf("%v are not sorted", reason.codes)
		}
		for _, n := range reason.codes {
			if seen[n] {
				t.Errorf("%d has two reasons", n)
			}
			seen[n] = true
			if code, known := Lookup(n); !known || code.Source != AKS {
				t.Errorf("%d is not one of the scripts alone: %+v", n, code)
			}
		}
	}
	for _, code := range All() {
		if code.Source == AKS && !seen[code.Number] {
			t.Errorf("%d %s: say why Slipway does not return it", code.Number, code.Name)
		}
	}
}

// scriptsOnlyText is the part of the exit code page with those reasons.
func scriptsOnlyText() string {
	var b strings.Builder
	b.WriteString("\n## Codes that only AKS's scripts return\n\n| why Slipway does not | codes |\n|---|---|\n")
	for _, reason := range scriptsOnly {
		fmt.Fprintf(&b, "| %s | %s |\n", reason.why, strings.Trim(strings.ReplaceAll(fmt.Sprint(reason.codes), " ", ", "), "[]"))
	}
	return b.String()
}
