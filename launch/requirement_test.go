package launch_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

const (
	zone       = "topology.kubernetes.io/zone"
	formerZone = "failure-domain.beta.kubernetes.io/zone"
)

// TestZones: a requirement on the zone chooses one that the instance type has, also by the label's former name. Where it is not known
// which it has, one that is named is taken, and nothing is guessed. A machine in no zone is the last choice; its zone is called 0.
func TestZones(t *testing.T) {
	have := []string{"eastus-1", "eastus-2", "eastus-3"}
	for _, c := range []struct {
		known        []string
		requirements []launch.Requirement
		zone, wrong  string
	}{
		{have, nil, "", ""},
		{have, []launch.Requirement{{Key: zone, Operator: "DoesNotExist"}}, "", `would have "0"`},
		{have, []launch.Requirement{{Key: zone, Operator: "In", Values: []string{"0"}}}, "", ""},
		{have, []launch.Requirement{{Key: zone, Operator: "In", Values: []string{"0", "eastus-3"}}}, "eastus-3", ""},
		{have, []launch.Requirement{{Key: zone, Operator: "In", Values: []string{"0", "westus-1"}}}, "", ""},
		{have, []launch.Requirement{{Key: zone, Operator: "In", Values: []string{"0"}}, {Key: zone, Operator: "NotIn", Values: []string{"0"}}}, "", "leaves no zone"},
		{have, []launch.Requirement{{Key: zone, Operator: "NotIn", Values: []string{"0"}}}, "eastus-1", ""},
		{have, []launch.Requirement{{Key: zone, Operator: "Exists"}}, "eastus-1", ""},
		{have, []launch.Requirement{{Key: zone, Operator: "In", Values: []string{"eastus-3", "eastus-2"}}}, "eastus-2", ""},
		{have, []launch.Requirement{{Key: formerZone, Operator: "In", Values: []string{"eastus-3"}}}, "eastus-3", ""},
		{have, []launch.Requirement{{Key: formerZone, Operator: "NotIn", Values: []string{"eastus-1"}}, {Key: zone, Operator: "NotIn", Values: []string{"eastus-2"}}}, "eastus-3", ""},
		{have, []launch.Requirement{{Key: zone, Operator: "NotIn", Values: have}}, "", ""},
		{have, []launch.Requirement{{Key: zone, Operator: "NotIn", Values: append([]string{"0"}, have...)}}, "", "which are eastus-1, eastus-2, eastus-3"},
		{have, []launch.Requirement{{Key: zone, Operator: "Exists"}, {Key: zone, Operator: "DoesNotExist"}}, "", "leaves no zone"},
		{have, []launch.Requirement{{Key: zone, Operator: "In", Values: []string{"westus-1"}}}, "westus-1", "does not have the instance type"},
		{have, []launch.Requirement{{Key: zone, Operator: "In", Values: []string{"eastus-1"}}, {Key: formerZone, Operator: "In", Values: []string{"eastus-2"}}}, "eastus-1", "contradicts"},
		{[]string{}, []launch.Requirement{{Key: zone, Operator: "Exists"}}, "", ""},
		{[]string{}, []launch.Requirement{{Key: zone, Operator: "NotIn", Values: []string{"0"}}}, "", "which are none"},
		{nil, []launch.Requirement{{Key: zone, Operator: "In", Values: []string{"eastus-2", "eastus-1"}}, {Key: zone, Operator: "NotIn", Values: []string{"eastus-2"}}}, "eastus-1", ""},
		{nil, []launch.Requirement{{Key: zone, Operator: "In", Values: []string{"westus-2", "westus-1"}}}, "westus-2", "is no zone of eastus"},
		{nil, []launch.Requirement{{Key: zone, Operator: "NotIn", Values: []string{"eastus-2"}}}, "", ""},
		{nil, []launch.Requirement{{Key: zone, Operator: "NotIn", Values: []string{"0", "eastus-2"}}}, "", "not known which the instance type has"},
	} {
		cloud, request, _ := base(t).decode(t)
		cloud.Type.Zones, request.Claim.Spec.Requirements = c.known, c.requirements
		made := launch.Render(cloud, request)
		problems := made.Problems()
		fatal := nodeconfig.Fatal(problems)
		if got := made.Document().Machine.Zone; got != c.zone || (len(fatal) > 0) != (c.wrong != "") {
			t.Errorf("%v of %v: zone %q, %v", c.requirements, c.known, got, fatal)
		}
		if c.wrong != "" && (len(fatal) == 0 || !strings.Contains(fatal[0].Reason, c.wrong)) {
			t.Errorf("%v of %v: %v, want %q", c.requirements, c.known, fatal, c.wrong)
		}
		if label := made.Document().Node.Kubelet.Labels[zone]; label != cmp.Or(made.Document().Machine.Zone, "0") || made.Document().Node.Kubelet.Labels[formerZone] != "" {
			t.Errorf("%v of %v: the label is %q", c.requirements, c.known, label)
		}
	}
}

// TestFulfilled: a node without the label fulfils NotIn and DoesNotExist alone (sigs.k8s.io/karpenter: scheduling).
func TestFulfilled(t *testing.T) {
	const with, without = "karpenter.azure.com/sku-cpu", "karpenter.azure.com/sku-gpu-name" // 4, and no label
	for _, c := range []struct {
		operator  string
		values    []string
		has, lack bool // whether a node fulfils it that has the label, and one that lacks it
	}{
		{"In", []string{"4", "8"}, true, false}, {"In", []string{"8"}, false, false}, {"NotIn", []string{"4"}, false, true}, {"NotIn", []string{"8"}, true, true},
		{"Exists", nil, true, false}, {"DoesNotExist", nil, false, true},
		{"Gt", []string{"3"}, true, false}, {"Gt", []string{"4"}, false, false}, {"Gte", []string{"4"}, true, false}, {"Gte", []string{"5"}, false, false},
		{"Lt", []string{"5"}, true, false}, {"Lt", []string{"4"}, false, false}, {"Lte", []string{"4"}, true, false}, {"Lte", []string{"3"}, false, false},
		{"Gt", []string{"x"}, false, false}, {"Gt", nil, false, false}, {"Lt", []string{"5", "6"}, false, false},
	} {
		for key, want := range map[string]bool{with: c.has, without: c.lack} {
			cloud, request, _ := base(t).decode(t)
			request.Claim.Spec.Requirements = []launch.Requirement{{Key: key, Operator: c.operator, Values: c.values}}
			problems := launch.Render(cloud, request).Problems()
			if fatal := nodeconfig.Fatal(problems); (len(fatal) == 0) != want {
				t.Errorf("%s %s %v: %v, want %t", key, c.operator, c.values, fatal, want)
			}
		}
	}
}
