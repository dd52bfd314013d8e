package karpenter

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
)

// InstanceTypeOf is an instance type of Karpenter's own, as a provider offers it, for package launch: what the labels of its nodes
// say of it, and its processors. What is not said there is not known: a capacity of memory is less than the type has, and the
// overhead is what launch decides itself.
func InstanceTypeOf(it *cloudprovider.InstanceType) (*launch.InstanceType, error) {
	labels := make(map[string][]string, len(it.Requirements))
	for label, requirement := range it.Requirements {
		switch requirement.Operator() {
		case corev1.NodeSelectorOpIn:
			labels[label] = requirement.Values()
		case corev1.NodeSelectorOpDoesNotExist:
			labels[label] = nil
		}
	}
	t, err := azure.LabelledInstanceType(it.Name, labels)
	if err != nil {
		return nil, err
	}
	processors, known := it.Capacity[corev1.ResourceCPU]
	switch n := int(processors.Value()); {
	case !known:
	case t.VCPUs != 0 && t.VCPUs != n:
		return nil, fmt.Errorf("the instance type %s has %d processors by its labels, and %s by its capacity", it.Name, t.VCPUs, processors.String())
	case processors.MilliValue() == int64(n)*1000:
		t.VCPUs = n
	}
	return t, nil
}

// complete makes the instance types of those that another provider has. The error has all that is wrong with the inputs.
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
