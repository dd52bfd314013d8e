package plan

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Values that the contract does not set are computed. Unknown values are never guessed.
func TestCapacity(t *testing.T) {
	const file = "/var/lib/kubelet/config.yaml"
	machine := facts.Facts{OS: facts.OS{ID: "amzn"}, CPUs: 2, NodeIPs: []string{"10.0.0.5"}, Instance: &facts.Instance{Platform: facts.EC2, ID: "i-0123456789abcdef0", Type: "m5.large"}}
	image := facts.Facts{OS: facts.OS{ID: "amzn"}, CPUs: 2, Instance: &facts.Instance{Platform: facts.EC2, Type: "m5.large"}}
	named := facts.Facts{OS: facts.OS{ID: "amzn"}, CPUs: 2, Instance: &facts.Instance{Platform: facts.EC2, ID: "i-0123456789abcdef0", Type: "m5.huge"}}
	const pods, cpu, memory, evicts = `"maxPods": 29`, `"cpu": "70m"`, `"memory": "574Mi"`, `"memory.available": "100Mi"`
	for name, c := range map[string]struct {
		types     []string
		config    map[string]any
		known     facts.Facts
		agentless bool
		// want and none are texts that the kubelet's file has and lacks; problem is a fatal problem, warning one that is not fatal.
		want, none       []string
		problem, warning string
	}{
		"the machine's type":                 {known: machine, want: []string{pods, cpu, memory, evicts}},
		"of several":                         {types: []string{"c5.xlarge", "m5.large"}, known: machine, want: []string{pods, cpu, memory, evicts}},
		"another than the group's":           {types: []string{"c5.xlarge"}, known: machine, want: []string{pods, cpu, memory}},
		"the number of pods is set":          {config: map[string]any{"maxPods": json.Number("9")}, known: machine, want: []string{`"maxPods": 9`, cpu, memory}, none: []string{pods}},
		"parts are set":                      {config: map[string]any{"kubeReserved": map[string]any{"cpu": "1"}, "evictionHard": map[string]any{"memory.available": "5%"}}, known: machine, want: []string{pods, `"cpu": "1"`, memory, `"5%"`}, none: []string{cpu, evicts}},
		"an unknown type":                    {known: named, problem: `the instance type "m5.huge" is not known`},
		"one of the group's":                 {types: []string{"m5.large", "m5.huge"}, known: machine, problem: `the instance type "m5.huge" is not known`},
		"nothing is known":                   {none: []string{"maxPods", "kubeReserved"}},
		"no metadata":                        {known: facts.Facts{OS: facts.OS{ID: "amzn"}}, problem: "neither the cloud's metadata service nor the facts have it"},
		"without an agent":                   {types: []string{"c5.xlarge", "m5.large"}, known: image, agentless: true, want: []string{evicts}, none: []string{"maxPods", "kubeReserved"}, warning: "kubeReserved is left out"},
		"one type, without an agent":         {types: []string{"m5.large"}, known: image, agentless: true, want: []string{cpu, memory, evicts}, none: []string{"maxPods"}},
		"the image's type, without an agent": {known: image, agentless: true, want: []string{cpu, memory, evicts}, none: []string{"maxPods"}},
		"another type, without an agent":     {types: []string{"c5.xlarge"}, known: machine, agentless: true, problem: "does not have m5.large, which the machine of these facts is"},
		"no type, without an agent":          {agentless: true, problem: "name those that it can be of"},
	} {
		t.Run(name, func(t *testing.T) {
			config := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
				n.Kubelet.Capacity, n.Kubelet.Config = &nodeconfig.Capacity{Rule: nodeconfig.RuleEKS, InstanceTypes: c.types}, c.config
				n.Cloud = nodeconfig.Cloud{Provider: "aws"}
			})
			planner := New
			if c.agentless {
				planner = WithoutAgent
			}
			p, problems := planner(config, c.known)
			said := func(want string, fatal bool) bool {
				return slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool { return p.Fatal == fatal && strings.Contains(p.Reason, want) })
			}
			if c.problem != "" {
				if !said(c.problem, true) {
					t.Errorf("%v, want %s", problems, c.problem)
				}
				return
			}
			if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 || c.warning != "" && !said(c.warning, false) {
				t.Errorf("%v, want %s", problems, c.warning)
			}
			content := string(fileAt(t, p, file).Content)
			for _, want := range c.want {
				if !strings.Contains(content, want) {
					t.Errorf("no %s in %s", want, content)
				}
			}
			for _, none := range c.none {
				if strings.Contains(content, none) {
					t.Errorf("%s in %s", none, content)
				}
			}
		})
	}
}

// The plan has the calculation of each number that a kubelet gets.
func TestDerivation(t *testing.T) {
	c := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) { n.Kubelet.Capacity = &nodeconfig.Capacity{Rule: nodeconfig.RuleEKS} })
	p, _ := New(c, onEC2(ubuntu(t)))
	reason := resourceIn(p, "File:/var/lib/kubelet/config.yaml").Reason
	steps := Derived(c, onEC2(ubuntu(t)), []string{setting.KubeletCapacity})
	for _, step := range steps {
		if step.How == "" || !strings.Contains(reason, step.Name+" "+step.Value+" = "+step.How) {
			t.Errorf("%+v is not in %s", step, reason)
		}
	}
	if len(steps) != 7 {
		t.Errorf("%d steps", len(steps))
	}
}

// A flag of the contract reaches the snap as one setting, unchanged, or is refused.
func TestSettingsOfSnapArrive(t *testing.T) {
	refused := 0
	for _, value := range hostile {
		c := ofGroup(t, "1.30.1")
		c.Kubelet.Flags = []nodeconfig.Flag{{Name: "root-dir", Value: value}}
		known := onEC2(ubuntu(t))
		known.OS.ID, known.Instance.Lifecycle, known.Components = "ubuntu", "spot", nil
		p, problems := New(c, known)
		if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
			refused++
			if fatal[0].Path != "$.kubelet.flags[0]" {
				t.Errorf("%q: %v", value, fatal)
			}
			continue
		}
		argv, _, err := kubeletCommand(p)
		if want := "root-dir=" + value; err != nil || !slices.Contains(argv, want) || argv[2] != "kubelet-eks" {
			t.Errorf("%q is not a word of %q, %v", want, argv, err)
		}
	}
	if refused == len(hostile) {
		t.Error("every value is refused")
	}
	for _, name := range []string{"Root-Dir", "a.b", "a_b"} {
		c := ofGroup(t, "1.30.1")
		c.Kubelet.Flags = []nodeconfig.Flag{{Name: name, Value: "x"}}
		known := onEC2(ubuntu(t))
		known.Components = nil
		if _, problems := New(c, known); len(nodeconfig.Fatal(problems)) == 0 {
			t.Errorf("%s is taken for a setting", name)
		}
	}
}
