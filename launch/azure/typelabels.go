package azure

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/slipway-dev/slipway/launch"
)

// typeLabel is a label that says something of an instance type, by the values that its nodes have; none where no node has the label.
type typeLabel struct {
	key  string
	take func(t *launch.InstanceType, values []string) error
}

// typeLabels are those of Karpenter for Azure (K3.3, K5.1). It sets those of abilities where the
// type has the ability. That a type can have its disk on the host does not say where, so it stays unknown; trusted launch and
// encryption at the host have no label.
var typeLabels = []typeLabel{
	{"kubernetes.io/arch", one(func(t *launch.InstanceType, v string) error {
		for _, known := range architectures {
			if v == known {
				t.Architecture = v
				return nil
			}
		}
		return strconv.ErrSyntax
	})},
	{"karpenter.azure.com/sku-cpu", one(capabilities["vCPUs"])},
	{"karpenter.azure.com/sku-memory", one(bytes(func(t *launch.InstanceType) *int64 { return &t.MemoryBytes }, 1<<20))},
	{"karpenter.azure.com/sku-hyperv-generation", func(t *launch.InstanceType, values []string) error { t.Generations = values; return nil }},
	{"topology.kubernetes.io/zone", func(t *launch.InstanceType, values []string) error { t.Zones = values; return nil }},
	{"karpenter.azure.com/sku-gpu-count", orWithout("0", capabilities["GPUs"])},
	{"karpenter.azure.com/sku-networking-accelerated", orWithout("false", capabilities["AcceleratedNetworkingEnabled"])},
	{"karpenter.azure.com/sku-storage-premium-capable", orWithout("false", capabilities["PremiumIO"])},
	{"karpenter.azure.com/sku-storage-ephemeralos-maxsize", func(t *launch.InstanceType, values []string) error {
		if len(values) == 0 {
			t.EphemeralDisk = new(false)
		}
		return nil
	}},
}

// one takes the value of a label that has one; without a value the label says nothing.
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

// orWithout takes the value of a label that nodes do not have where the answer is another value.
func orWithout(none string, take func(*launch.InstanceType, string) error) func(*launch.InstanceType, []string) error {
	return func(t *launch.InstanceType, values []string) error {
		if len(values) == 0 {
			return take(t, none)
		}
		return one(take)(t, values)
	}
}

// LabelledInstanceType is an instance type of which the labels of its nodes are known, each with the values that nodes have. A label
// with no value is one that no node has. What no label says is not known. The error has all that is wrong.
func LabelledInstanceType(name string, labels map[string][]string) (*launch.InstanceType, error) {
	t := &launch.InstanceType{Name: name}
	var wrong []error
	for _, l := range typeLabels {
		values, known := labels[l.key]
		if !known {
			continue
		}
		values = slices.DeleteFunc(slices.Sorted(slices.Values(values)), func(v string) bool { return v == "" })
		if err := l.take(t, values); err != nil {
			wrong = append(wrong, fmt.Errorf("the label %s: %w", l.key, err))
		}
	}
	if wrong != nil {
		return nil, fmt.Errorf("the instance type %s: %w", name, errors.Join(wrong...))
	}
	return t, nil
}
