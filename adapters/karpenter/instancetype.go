package karpenter

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
)

// typeLabel is a label that describes an instance type, with the values that its nodes have. No values means that no node has the
// label.
type typeLabel struct {
	key  string
	take func(t *launch.InstanceType, values []string) error
}

// typeLabels are those of Karpenter for Azure (K3.3, K5.1). It sets an ability's label if the type has the ability. The label for a
// disk on the host does not say where on the host, so the place stays unknown. Trusted launch and encryption at the host have no
// label.
var typeLabels = []typeLabel{
	{corev1.LabelArchStable, one(func(t *launch.InstanceType, v string) error { t.Architecture = v; return nil })},
	{"karpenter.azure.com/sku-cpu", one(number(func(t *launch.InstanceType, n int) { t.VCPUs = n }))},
	{"karpenter.azure.com/sku-memory", one(number(func(t *launch.InstanceType, n int) { t.MemoryBytes = int64(n) << 20 }))},
	{"karpenter.azure.com/sku-hyperv-generation", func(t *launch.InstanceType, values []string) error { t.Generations = values; return nil }},
	{corev1.LabelTopologyZone, func(t *launch.InstanceType, values []string) error {
		t.Zones = slices.DeleteFunc(values, func(zone string) bool { return !azure.IsZone(zone) })
		return nil
	}},
	{v1.CapacityTypeLabelKey, func(t *launch.InstanceType, values []string) error {
		t.Spot = new(slices.Contains(values, v1.CapacityTypeSpot))
		return nil
	}},
	{"karpenter.azure.com/sku-gpu-count", orWithout("0", number(func(t *launch.InstanceType, n int) { t.GPUs = &n }))},
	{"karpenter.azure.com/sku-gpu-manufacturer", one(func(t *launch.InstanceType, v string) error { t.GPUManufacturer = v; return nil })},
	{"karpenter.azure.com/sku-gpu-name", one(func(t *launch.InstanceType, v string) error { t.GPUName = v; return nil })},
	{"karpenter.azure.com/sku-networking-accelerated", orWithout("false", able(func(t *launch.InstanceType) **bool { return &t.AcceleratedNetworking }))},
	{"karpenter.azure.com/sku-storage-premium-capable", orWithout("false", able(func(t *launch.InstanceType) **bool { return &t.PremiumStorage }))},
	{"karpenter.azure.com/sku-storage-ephemeralos-maxsize", func(t *launch.InstanceType, values []string) error {
		if len(values) == 0 {
			t.EphemeralDisk = new(false)
		}
		return nil
	}},
}

// one wraps take for a label with a single value. Without a value, the property stays unknown.
func one(take func(*launch.InstanceType, string) error) func(*launch.InstanceType, []string) error {
	return func(t *launch.InstanceType, values []string) error {
		switch len(values) {
		case 0:
			return nil
		case 1:
			return take(t, values[0])
		}
		return fmt.Errorf("has %d values, and an instance type has one", len(values))
	}
}

// orWithout wraps take for a label that nodes lack if the answer is the other value, none.
func orWithout(none string, take func(*launch.InstanceType, string) error) func(*launch.InstanceType, []string) error {
	return func(t *launch.InstanceType, values []string) error {
		if len(values) == 0 {
			return take(t, none)
		}
		return one(take)(t, values)
	}
}

func number(set func(*launch.InstanceType, int)) func(*launch.InstanceType, string) error {
	return func(t *launch.InstanceType, v string) error {
		n, err := strconv.ParseUint(v, 10, 31)
		if err != nil {
			return fmt.Errorf("is %q, want a number", v)
		}
		set(t, int(n))
		return nil
	}
}

func able(field func(*launch.InstanceType) **bool) func(*launch.InstanceType, string) error {
	return func(t *launch.InstanceType, v string) error {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return fmt.Errorf("is %q, want true or false", v)
		}
		*field(t) = &b
		return nil
	}
}

// valuesOf returns the values of a label in a requirement, sorted. A requirement that allows any value says nothing about the
// label.
func valuesOf(r *scheduling.Requirement) (values []string, says bool) {
	switch r.Operator() {
	case corev1.NodeSelectorOpIn:
		return slices.DeleteFunc(slices.Sorted(slices.Values(r.Values())), func(v string) bool { return v == "" }), true
	case corev1.NodeSelectorOpDoesNotExist:
		return nil, true
	}
	return nil, false
}

// InstanceTypeOf converts an instance type of Karpenter, as a provider offers it, for package launch: the properties that its
// nodes' labels state, and its processors. All else stays unknown: the stated memory capacity is less than the type has, and launch
// computes the overhead itself. The error has all problems.
func InstanceTypeOf(it *cloudprovider.InstanceType) (*launch.InstanceType, error) {
	t := &launch.InstanceType{Name: it.Name}
	var wrong []error
	for _, l := range typeLabels {
		requirement, known := it.Requirements[l.key]
		if !known {
			continue
		}
		if values, says := valuesOf(requirement); says {
			if err := l.take(t, values); err != nil {
				wrong = append(wrong, fmt.Errorf("the label %s %w", l.key, err))
			}
		}
	}
	processors, known := it.Capacity[corev1.ResourceCPU]
	switch n := int(processors.Value()); {
	case !known:
	case t.VCPUs != 0 && t.VCPUs != n:
		wrong = append(wrong, fmt.Errorf("it has %d processors by its labels, and %s by its capacity", t.VCPUs, processors.String()))
	case processors.MilliValue() == int64(n)*1000:
		t.VCPUs = n
	}
	if wrong != nil {
		return nil, fmt.Errorf("the instance type %s: %w", it.Name, errors.Join(wrong...))
	}
	return t, nil
}

// complete converts another provider's instance types. The error has all problems of the inputs.
func (in *Inputs) complete() error {
	var wrong []error
	if in.Settings == nil {
		wrong = append(wrong, errors.New("Inputs.Settings is missing"))
	}
	if in.Types != nil && in.Provided != nil {
		wrong = append(wrong, errors.New("Inputs.Types and Inputs.Provided are both given; one of them says which instance types there are"))
	}
	for _, it := range in.Provided {
		t, err := InstanceTypeOf(it)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("Inputs.Provided: %w", err))
			continue
		}
		in.Types = append(in.Types, *t)
	}
	return errors.Join(wrong...)
}
