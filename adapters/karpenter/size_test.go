package karpenter_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// offered are the instance types of the example's pool, by name.
func (f *fixture) offered() map[string]*cloudprovider.InstanceType {
	f.t.Helper()
	list, err := f.provider.GetInstanceTypes(f.ctx, object[v1.NodePool](f.t, "nodepool.yaml", ""))
	if err != nil {
		f.t.Fatal(err)
	}
	all := make(map[string]*cloudprovider.InstanceType, len(list))
	for _, it := range list {
		all[it.Name] = it
	}
	return all
}

// available counts the offerings that are available.
func available(it *cloudprovider.InstanceType) int { return len(it.Offerings.Available()) }

// TestSizes: the scheduler gets the node's exact capacity and reservations for every instance type, of a list and built in.
func TestSizes(t *testing.T) {
	for name, builtIn := range map[string]bool{"of a list": false, "built in": true} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, func(f *fixture) {
				if builtIn {
					f.options.Inputs.Types = nil
				}
			})
			types := f.options.Inputs.Types
			if builtIn {
				types = azure.InstanceTypes()
			}
			offered := f.offered()
			if len(offered) != len(types) || len(types) < 7 {
				t.Errorf("%d of %d types are offered", len(offered), len(types))
			}
			for i := range types {
				in := &azure.Input{Settings: f.options.Inputs.Settings, Type: &types[i], Images: f.options.Inputs.Images, Detected: f.options.Inputs.Detected}
				document, err := classOf(t, "").Document()
				if err != nil {
					t.Fatal(err)
				}
				in.Class, _ = azure.ReadNodeClass(document)
				template := launch.Render(in, launch.Request{Claim: new(launch.NodeClaim)})
				problems := template.Problems()
				compare(t, offered[types[i].Name], template, len(nodeconfig.Fatal(problems)) == 0)
			}
		})
	}
}

// compare compares an instance type with the template of a launch on it.
func compare(t *testing.T, it *cloudprovider.InstanceType, template *launch.Launch, possible bool) {
	t.Helper()
	machine := &template.Document().Machine
	for i, pair := range []struct {
		got  corev1.ResourceList
		want map[string]string
	}{{it.Capacity, machine.Capacity}, {it.Allocatable(), machine.Allocatable}} {
		if len(pair.got) != len(pair.want) {
			t.Errorf("%s, %d: %v, want %v", it.Name, i, pair.got, pair.want)
		}
		for name, want := range pair.want {
			if got := pair.got[corev1.ResourceName(name)]; got.Cmp(*must(t, want)) != 0 {
				t.Errorf("%s, %d: %s is %s, want %s", it.Name, i, name, got.String(), want)
			}
		}
	}
	config := template.Document().Node.Kubelet.Config
	reserved, eviction := config["kubeReserved"].(map[string]any), config["evictionHard"].(map[string]any)
	for name, amount := range reserved {
		if got := it.Overhead.KubeReserved[corev1.ResourceName(name)]; got.Cmp(*must(t, amount.(string))) != 0 {
			t.Errorf("%s: the kubelet keeps %s of %s back, and the scheduler gets %s", it.Name, amount, name, got.String())
		}
	}
	if got := it.Overhead.EvictionThreshold[corev1.ResourceMemory]; got.Cmp(*must(t, eviction["memory.available"].(string))) != 0 {
		t.Errorf("%s: the threshold is %s", it.Name, got.String())
	}
	disk, evicts := it.Capacity[corev1.ResourceEphemeralStorage], it.Overhead.EvictionThreshold[corev1.ResourceEphemeralStorage]
	if tenth := disk.Value() / 10; eviction["nodefs.available"] != "10%" || evicts.Value() < tenth || evicts.Value() > tenth+tenth/1e6 {
		t.Errorf("%s: pods are evicted below %s of %s of disk, want %v", it.Name, evicts.String(), disk.String(), eviction["nodefs.available"])
	}
	if (available(it) > 0) != possible {
		t.Errorf("%s: %d offerings are available, and a node is possible: %t", it.Name, available(it), possible)
	}
	zones, kinds := len(machine.Type.Zones)+1, 2 // one more for no zone
	if able := machine.Type.Spot; able != nil && !*able {
		kinds = 1
	}
	if len(it.Offerings) != zones*kinds {
		t.Errorf("%s has %d offerings in %d zones as %d capacity types", it.Name, len(it.Offerings), zones, kinds)
	}
}

// TestRequirements: a pod that asks for a label fits if nodes have it. Each label that Karpenter knows has a requirement.
func TestRequirements(t *testing.T) {
	f := newFixture(t, nil)
	offered := f.offered()
	for label, fit := range map[[2]string][]string{
		{"kubernetes.io/arch", "arm64"}:                    {"Standard_D4ps_v5"},
		{"karpenter.azure.com/sku-gpu-count", "1"}:         {"Standard_NC24ads_A100_v4", "Standard_NC6"},
		{"karpenter.azure.com/sku-cpu", "8"}:               {"Standard_E32-8ds_v5", "Standard_L8s_v3"},
		{"kubernetes.azure.com/priority", "spot"}:          {"Standard_D4ds_v5", "Standard_D4ps_v5", "Standard_D4s_v5", "Standard_E32-8ds_v5", "Standard_E4s_v5", "Standard_L8s_v3", "Standard_NC24ads_A100_v4", "Standard_NC6"},
		{"topology.kubernetes.io/zone", "eastus-4"}:        nil,
		{"topology.kubernetes.io/region", "westus"}:        nil,
		{"kubernetes.azure.com/fips_enabled", "true"}:      nil,
		{"kubernetes.azure.com/os-sku-effective", "other"}: nil,
	} {
		wanted := scheduling.NewRequirements(scheduling.NewRequirement(label[0], corev1.NodeSelectorOpIn, label[1]))
		var got []string
		for name, it := range offered {
			if it.Requirements.Intersects(wanted) == nil {
				got = append(got, name)
			}
		}
		if slices.Sort(got); !slices.Equal(got, fit) {
			t.Errorf("%v: %v, want %v", label, got, fit)
		}
	}
	for name, it := range offered {
		for label := range v1.WellKnownLabels {
			if it.Requirements.Has(label) == (label == v1.NodePoolLabelKey) {
				t.Errorf("%s: the label %s", name, label)
			}
		}
	}
	gpus := offered["Standard_NC24ads_A100_v4"].Allocatable()["nvidia.com/gpu"]
	if gpus.Value() != 1 {
		t.Errorf("pods can have %d GPUs", gpus.Value())
	}
}

// TestPrices: the inputs' prices count; without them a smaller offering is cheaper, and spot is cheaper.
func TestPrices(t *testing.T) {
	f := newFixture(t, nil)
	offered := f.offered()
	price := func(name, kind string) float64 { p, _ := offered[name].OfferingPrice("eastus-1", kind); return p }
	if small, large := price("Standard_D4s_v5", "on-demand"), price("Standard_L8s_v3", "on-demand"); !(small > 0 && small < large) {
		t.Errorf("%f, %f", small, large)
	}
	if spot, demand := price("Standard_D4s_v5", "spot"), price("Standard_D4s_v5", "on-demand"); !(spot > 0 && spot < demand) {
		t.Errorf("%f, %f", spot, demand)
	}
	unknown := func(kind string) float64 {
		return karpenter.RelativePrice(&launch.InstanceType{Name: "Standard_D2s_v99", VCPUs: 2}, "eastus-1", kind)
	}
	if large := price("Standard_L8s_v3", "on-demand"); !(unknown("spot") > large && unknown("spot") < unknown("on-demand")) {
		t.Errorf("a size of a series that is not known costs %f, a larger one %f", unknown("spot"), large)
	}
	in := inputs(t, "")
	in.Price = func(t *launch.InstanceType, zone, kind string) float64 { return float64(len(t.Name + zone + kind)) }
	f.setInputs(in)
	offered = f.offered()
	if p := price("Standard_D4s_v5", "spot"); p != float64(len("Standard_D4s_v5eastus-1spot")) {
		t.Error(p)
	}
}

// TestUnknownCapability: an instance type of unknown memory and processors is not offered, and does not stop the others.
func TestUnknownCapability(t *testing.T) {
	in := inputs(t, "")
	in.Types = append(in.Types, launch.InstanceType{Name: "Standard_X1"})
	f := newFixture(t, func(f *fixture) { f.options.Inputs = in })
	if offered := f.offered(); offered["Standard_X1"] != nil || len(offered) != len(in.Types)-1 {
		t.Errorf("%d types", len(offered))
	}
}
