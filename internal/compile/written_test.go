package compile_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/contracts"
)

// written is a contract as another system writes it: an example with the system's kubelet settings.
type written struct {
	Base string `json:"base"`
	// Version is the field with the Kubernetes version, if any; Versions are those for which the system writes it.
	Version  string         `json:"version"`
	Versions []string       `json:"versions"`
	Document map[string]any `json:"document"`
	// Machine is "ec2" for an EC2 machine.
	Machine string `json:"machine"`
}

// machineOf are the facts of a machine that has a kubelet.
func machineOf(t *testing.T, w written, version string) facts.Facts {
	t.Helper()
	f, err := facts.Parse([]byte(read(t, "../../examples/facts/ubuntu.json")))
	if err != nil {
		t.Fatal(err)
	}
	f.Components = slices.DeleteFunc(f.Components, func(c components.Component) bool { return c.Name == "kubelet" })
	if strings.Count(version, ".") == 1 {
		version += ".1"
	}
	for _, path := range []string{"/usr/bin/kubelet", "/opt/bin/kubelet-" + version} {
		f.Components = append(f.Components, components.Component{Name: "kubelet", Version: version, Path: path})
	}
	if w.Machine == "ec2" {
		f.Components = append(f.Components, components.Component{Name: "aws", Path: "/usr/bin/aws"}, components.Component{Name: "ecr-credential-provider", Path: "/etc/eks/ecr-credential-provider"})
		f.Instance = &facts.Instance{Platform: "ec2", ID: "i-0123456789abcdef0", Hostname: "ip-10-0-0-5.eu-west-1.compute.internal", Type: "m5.large", Zone: "eu-west-1a", Lifecycle: "on-demand"}
	}
	return f
}

// Contracts that other systems write make a node, with the facts of a machine and without, in each version for which they are
// written. The folder testdata/written has a file for each system, with the expected warnings.
func TestContractsOfOtherSystems(t *testing.T) {
	files, err := filepath.Glob("testdata/written/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	var golden strings.Builder
	for _, file := range files {
		tree, w := contracts.Parse(t, file), written{}
		document.Decode(tree, &w, document.Options{
			Names:  document.JSONNames,
			Report: func(fault document.Fault) { t.Errorf("%s: %+v", file, fault) },
		})
		change, _ := tree.Get("document")
		base := contracts.Merge(contracts.Parse(t, "../../examples/"+w.Base), change)
		said := make(map[string][]string) // the versions with each warning
		var order []string
		for _, version := range w.Versions {
			doc := base
			if w.Version != "" {
				doc = contracts.Put(doc, "$."+w.Version, &document.Node{Kind: document.String, Text: version})
			}
			text := together(warnings(t, file, doc, facts.Facts{}), warnings(t, file, doc, machineOf(t, w, version)))
			if said[text] == nil {
				order = append(order, text)
			}
			said[text] = append(said[text], version)
		}
		for _, text := range order {
			fmt.Fprintf(&golden, "%s %s\n%s", strings.TrimSuffix(filepath.Base(file), ".yaml"), strings.Join(said[text], " "), text)
		}
	}
	contracts.GoldenText(t, "testdata/written/warnings.golden", []byte(golden.String()))
}

// warnings are the warnings for a contract on a machine. An error fails the test.
func warnings(t *testing.T, file string, doc *document.Node, f facts.Facts) (lines []string) {
	t.Helper()
	c := compile.ReadOne(file, doc.AppendJSON(nil))
	p, problems := c.Plan(f)
	if len(nodeconfig.Fatal(problems)) > 0 || len(p.Resources) == 0 {
		t.Errorf("%s: no node is made of it\n%s", file, contracts.List(nodeconfig.Fatal(problems)))
	}
	for _, problem := range problems {
		problem.Line, problem.Column = 0, 0
		lines = append(lines, problem.String())
	}
	return lines
}

// together merges the lines of both, and marks each that is not in both.
func together(without, of []string) string {
	var b strings.Builder
	for _, line := range without {
		mark := ""
		if !slices.Contains(of, line) {
			mark = "without facts, "
		}
		fmt.Fprintf(&b, "\t%s%s\n", mark, line)
	}
	for _, line := range of {
		if !slices.Contains(without, line) {
			fmt.Fprintf(&b, "\tof a machine, %s\n", line)
		}
	}
	return b.String()
}
