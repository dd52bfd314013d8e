package karpenter_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/launch"
)

// The labels of an instance type.
const (
	labelArch   = "kubernetes.io/arch"
	labelCPU    = "karpenter.azure.com/sku-cpu"
	labelMemory = "karpenter.azure.com/sku-memory"
	labelGPUs   = "karpenter.azure.com/sku-gpu-count"
)

// provided is an instance type of Karpenter: labels with their values; no value means that no node has the label.
func provided(cpu string, labels map[string][]string) *cloudprovider.InstanceType {
	it := &cloudprovider.InstanceType{Name: "Standard_Test", Requirements: scheduling.NewRequirements()}
	for label, values := range labels {
		operator := corev1.NodeSelectorOpIn
		switch {
		case len(values) == 0:
			operator = corev1.NodeSelectorOpDoesNotExist
		case values[0] == "*":
			operator, values = corev1.NodeSelectorOpExists, nil
		}
		it.Requirements.Add(scheduling.NewRequirement(label, operator, values...))
	}
	if cpu != "" {
		it.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("7Gi")}
	}
	return it
}

// TestInstanceTypeOf: stated labels are used, missing ones leave a property unknown, and contradictions are errors.
func TestInstanceTypeOf(t *testing.T) {
	for name, c := range map[string]struct {
		cpu    string
		labels map[string][]string
		want   launch.InstanceType
		wrong  []string
	}{
		"no labels": {},
		"all labels": {"4", map[string][]string{
			labelArch: {"arm64"}, labelCPU: {"4"}, labelMemory: {"16384"}, labelGPUs: {"2"}, "karpenter.azure.com/sku-hyperv-generation": {"2"},
			"topology.kubernetes.io/zone": {"eastus-2", "0", "eastus-1", ""}, "karpenter.sh/capacity-type": {"on-demand", "spot"}, "karpenter.azure.com/sku-networking-accelerated": {"true"},
			"karpenter.azure.com/sku-storage-premium-capable": {"true"}, "karpenter.azure.com/sku-storage-ephemeralos-maxsize": {"53.6"},
			"karpenter.azure.com/sku-gpu-manufacturer": {"nvidia"}, "karpenter.azure.com/sku-gpu-name": {"A100"},
		}, launch.InstanceType{
			VCPUs: 4, MemoryBytes: 16 << 30, Architecture: "arm64", Generations: []string{"2"}, Zones: []string{"eastus-1", "eastus-2"}, Spot: new(true), GPUs: new(2),
			GPUManufacturer: "nvidia", GPUName: "A100",
			AcceleratedNetworking: new(true), PremiumStorage: new(true),
		}, nil},
		"no node has the labels": {"", map[string][]string{
			labelArch: nil, labelMemory: nil, labelGPUs: nil, "karpenter.azure.com/sku-networking-accelerated": nil,
			"karpenter.azure.com/sku-storage-premium-capable": nil, "karpenter.azure.com/sku-storage-ephemeralos-maxsize": nil,
		}, launch.InstanceType{GPUs: new(0), AcceleratedNetworking: new(false), PremiumStorage: new(false), EphemeralDisk: new(false)}, nil},
		"any value":          {"", map[string][]string{labelArch: {"*"}, labelGPUs: {"*"}}, launch.InstanceType{}, nil},
		"by the capacity":    {"8", nil, launch.InstanceType{VCPUs: 8}, nil},
		"part of a capacity": {"1500m", nil, launch.InstanceType{}, nil},
		"all that is wrong": {"4", map[string][]string{labelArch: {"amd64", "arm64"}, labelCPU: {"four"}, labelMemory: {"-1"}},
			launch.InstanceType{}, []string{"Standard_Test", labelArch + " has 2 values", labelCPU, labelMemory}},
		"a contradiction":    {"2", map[string][]string{labelCPU: {"4"}}, launch.InstanceType{}, []string{"4 processors by its labels, and 2 by its capacity"}},
		"an invalid ability": {"", map[string][]string{"karpenter.azure.com/sku-networking-accelerated": {"maybe"}}, launch.InstanceType{}, []string{"want true or false"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := karpenter.InstanceTypeOf(provided(c.cpu, c.labels))
			for _, want := range c.wrong {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
			}
			if c.wrong != nil {
				return
			}
			c.want.Name = "Standard_Test"
			if err != nil || !reflect.DeepEqual(*got, c.want) {
				t.Errorf("%+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

// TestProvided: a provider with another provider's types offers the same types with the same labels.
func TestProvided(t *testing.T) {
	in := inputs(t, "")
	known := in.Types
	// What the provider itself offers states all properties except those that no node shows.
	f := newFixture(t, nil)
	in.Types = nil
	for _, it := range f.offered() {
		in.Provided = append(in.Provided, it)
	}
	f.setInputs(in)
	offered := f.offered()
	if len(offered) != len(known) {
		t.Errorf("%d of %d types are offered", len(offered), len(known))
	}
	for _, k := range known {
		it := offered[k.Name]
		for label, want := range map[string]string{labelArch: k.Architecture, "topology.kubernetes.io/zone": strings.Join(append([]string{"0"}, k.Zones...), ",")} {
			if got := it.Requirements.Get(label).Values(); strings.Join(slices.Sorted(slices.Values(got)), ",") != want {
				t.Errorf("%s: the label %s is %v, want %s", k.Name, label, got, want)
			}
		}
		if cpu := it.Capacity.Cpu().Value(); cpu != int64(k.VCPUs) {
			t.Errorf("%s has %d processors, want %d", k.Name, cpu, k.VCPUs)
		}
		if kind := it.Requirements.Get("karpenter.azure.com/sku-gpu-manufacturer"); kind.Has("nvidia") != (k.GPUManufacturer == "nvidia") {
			t.Errorf("%s: %v", k.Name, kind)
		}
		if gpus := it.Requirements.Get(labelGPUs); gpus.Has("1") != (k.GPUs != nil && *k.GPUs == 1) {
			t.Errorf("%s: %v", k.Name, gpus)
		}
	}
	in.Types = known
	if err := f.provider.SetInputs(in); err == nil || !strings.Contains(err.Error(), "Inputs.Provided are both given") {
		t.Error(err)
	}
	in.Types, in.Provided[0] = nil, provided("", map[string][]string{labelCPU: {"many"}})
	if err := f.provider.SetInputs(in); err == nil || !strings.Contains(err.Error(), labelCPU) {
		t.Error(err)
	}
	if len(f.offered()) != len(known) {
		t.Error("wrong inputs took effect")
	}
}
