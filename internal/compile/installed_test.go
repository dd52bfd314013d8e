package compile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// A contract that requires another version of a component than the machine has is refused with both versions, unless the plan
// downloads the required one.
func TestInstalled(t *testing.T) {
	machine := func(pairs ...string) facts.Facts {
		var f facts.Facts
		for i := 0; i < len(pairs); i += 2 {
			f.Components = append(f.Components, components.Component{Name: pairs[i], Version: pairs[i+1], Path: "/opt/bin/" + pairs[i] + "-" + pairs[i+1]})
		}
		return f
	}
	for name, c := range map[string]struct {
		facts     facts.Facts
		artifacts map[string]string
		code      int
		reasons   []string
	}{
		"nothing is known":                  {},
		"the wanted one":                    {facts: machine("containerd", "2", "kubelet", "1.36.3")},
		"another":                           {facts: machine("containerd", "2", "kubelet", "1.36.2"), code: 121, reasons: []string{"wants kubelet 1.36.3, and the machine has 1.36.2"}},
		"another build":                     {facts: machine("containerd", "2", "kubelet", "1.36.3+dirty")},
		"a release candidate":               {facts: machine("containerd", "2", "kubelet", "1.36.3-rc.0"), code: 121, reasons: []string{"has 1.36.3-rc.0"}},
		"several, and the wanted one":       {facts: machine("containerd", "2", "kubelet", "1.35.0", "kubelet", "1.36.3")},
		"several others":                    {facts: machine("kubelet", "1.35.0", "kubelet", "1.34.0"), code: 121, reasons: []string{"has 1.34.0, 1.35.0"}},
		"one of a version that is unknown":  {facts: machine("containerd", "2", "kubelet", "")},
		"none":                              {facts: machine("containerd", "2.2.4"), code: 121, reasons: []string{"the machine has none"}},
		"the runtime's main version":        {facts: machine("containerd", "2", "kubelet", "1.36.3"), artifacts: map[string]string{"containerd": "2.2.4"}},
		"another of the runtime":            {facts: machine("containerd", "1", "kubelet", "1.36.3"), artifacts: map[string]string{"containerd": "v2.2.4"}, code: 65, reasons: []string{"wants containerd 2.2.4, and the machine has 1"}},
		"the runtime of a distribution":     {facts: machine("containerd", "2.2.4", "kubelet", "1.36.3"), artifacts: map[string]string{"containerd": "2.2.4-1"}},
		"the contract contradicts itself":   {facts: machine("kubelet", "1.36.3"), artifacts: map[string]string{"kubernetes": "1.36.2"}, code: 65, reasons: []string{"wants kubelet 1.36.2"}},
		"what no image lists":               {facts: machine("kubelet", "1.36.3"), artifacts: map[string]string{"cni-plugins": "1.0.0"}},
		"what this image lists":             {facts: machine("kubelet", "1.36.3", "cni-plugins", "1.1.0"), artifacts: map[string]string{"cni-plugins": "1.0.0"}, code: 65, reasons: []string{"wants cni-plugins 1.0.0"}},
		"both, and the kubelet's code wins": {facts: machine("kubelet", "1.1.0", "runc", "1"), artifacts: map[string]string{"runc": "2.0.0"}, code: 121, reasons: []string{"wants kubelet", "wants runc"}},
	} {
		document := read(t, minimal)
		for name, version := range c.artifacts {
			document += fmt.Sprintf("components: {artifacts: {%s: {version: %q}}}\n", name, version)
		}
		contract := compile.ReadOne(name, []byte(document))
		_, problems := contract.Plan(c.facts)
		fatal := nodeconfig.Fatal(problems)
		if code := contract.ExitCode(problems); code != c.code || len(fatal) != len(c.reasons) {
			t.Errorf("%s: exit code %d, %v", name, code, fatal)
			continue
		}
		for i, reason := range c.reasons {
			if !strings.Contains(fatal[i].Reason, reason) || fatal[i].Kind != nodeconfig.NotInstalled {
				t.Errorf("%s: %v, want %s", name, fatal[i], reason)
			}
		}
	}
	contract := compile.ReadOne("", []byte(read(t, minimal)+"kubelet: {flags: [{name: kubeconfig, value: /x}]}\n"))
	if _, problems := contract.Plan(machine("kubelet", "1.1.0")); contract.ExitCode(problems) != exitcode.ContractInvalid {
		t.Errorf("a contract that is not valid either: %v", problems)
	}
	// The exit code does not depend on a dialect's name for the version.
	contract = compile.ReadOne("", []byte(read(t, "../../examples/aks/minimal.json")))
	if _, problems := contract.Plan(machine("kubelet", "1.1.0")); contract.ExitCode(problems) != exitcode.KubeletInstallFailed {
		t.Errorf("AKS's contract: %v", problems)
	}
}
