package karpenter

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/slipway-dev/slipway/capacity"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// size is an instance type with the resources of a class's nodes on it.
type size struct {
	machine *launch.InstanceType
	// problems are all problems of the class's node on this type. If one is fatal, no such node is possible.
	problems []nodeconfig.Problem
	// labels are the values that the labels of such nodes can have.
	labels   map[string][]string
	capacity corev1.ResourceList
	overhead *cloudprovider.InstanceTypeOverhead
}

// GetInstanceTypes returns the instance types with the resources of the pool class's nodes on them. A type on which no such node is
// possible has no available offering. A type of unknown processors or memory is left out.
func (p *Provider) GetInstanceTypes(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	c, err := p.readyClass(ctx, pool.Spec.Template.Spec.NodeClassRef)
	if err != nil {
		return nil, err
	}
	offered, err := p.offer(c)
	return slices.Clone(offered), err // the core sorts this slice
}

// offer returns a class's instance types for the scheduler. Do not modify the result.
func (p *Provider) offer(c *class) ([]*cloudprovider.InstanceType, error) {
	sizes, err := c.measure()
	if err != nil {
		return nil, err
	}
	now := p.clock.Now()
	state := p.exhausted.state(now)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.offered == nil || c.state != state {
		c.offered, c.state = make([]*cloudprovider.InstanceType, 0, len(sizes)), state
		for _, s := range sizes {
			if s.capacity != nil {
				c.offered = append(c.offered, s.instanceType(c.inputs, p.exhausted.has))
			}
		}
	}
	return c.offered, nil
}

// measure computes the resources of the class's nodes on each instance type, once.
func (c *class) measure() ([]*size, error) {
	c.mu.Lock()
	sizes := c.sizes
	c.mu.Unlock()
	if sizes != nil {
		return sizes, nil
	}
	all := c.inputs.instanceTypes()
	sizes = make([]*size, len(all))
	for i := range all {
		var err error
		if sizes[i], err = c.size(&all[i]); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sizes = sizes
	return sizes, nil
}

// size computes the resources on one instance type, from what is rendered for claims without further requirements.
func (c *class) size(t *launch.InstanceType) (*size, error) {
	s := &size{machine: t, labels: make(map[string][]string)}
	offerings := azure.Offerings(t)
	for i, o := range offerings {
		if o.Zone != offerings[0].Zone {
			break // except for the zone's labels, the other offerings have the same problems and labels
		}
		made := c.render(t, requestOf(new(launch.NodeClaim), nil, labelsOf(o)))
		if i == 0 {
			s.problems = made.Problems() // the other offerings have the same problems
		}
		document := made.Document()
		for label, value := range document.Node.Kubelet.Labels {
			if !slices.Contains(s.labels[label], value) {
				s.labels[label] = append(s.labels[label], value)
			}
		}
		machine := &document.Machine
		if len(machine.Capacity) == 0 {
			return s, nil // the problems name what is unknown
		}
		if err := s.reserve(machine, document.Node.Kubelet.Config); err != nil {
			return nil, fmt.Errorf("the instance type %s: %w", t.Name, err)
		}
	}
	return s, nil
}

// reserve computes what the scheduler needs of a node. Pods cannot use the eviction thresholds and the kubelet's reservations.
func (s *size) reserve(m *launch.Machine, kubelet map[string]any) error {
	var err error
	if s.capacity, err = quantities(m.Capacity); err != nil {
		return err
	}
	allocatable, err := quantities(m.Allocatable)
	if err != nil {
		return err
	}
	s.overhead = &cloudprovider.InstanceTypeOverhead{KubeReserved: make(corev1.ResourceList), EvictionThreshold: make(corev1.ResourceList)}
	for name, quantity := range s.capacity {
		rest := quantity.DeepCopy()
		rest.Sub(allocatable[name])
		threshold, err := capacity.Threshold(kubelet, string(name), quantity.Value())
		if err != nil {
			return err
		}
		if threshold > 0 {
			evicts := *resource.NewQuantity(threshold, resource.BinarySI)
			s.overhead.EvictionThreshold[name] = evicts
			rest.Sub(evicts)
		}
		if !rest.IsZero() {
			s.overhead.KubeReserved[name] = rest
		}
	}
	return nil
}

// quantities parses amounts as Kubernetes' quantities.
func quantities(texts map[string]string) (corev1.ResourceList, error) {
	list := make(corev1.ResourceList, len(texts))
	for name, text := range texts {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("%s is %q: %w", name, text, err)
		}
		list[corev1.ResourceName(name)] = quantity
	}
	return list, nil
}

// instanceType converts the size for the scheduler.
func (s *size) instanceType(in *Inputs, exhausted func(azure.Offering) bool) *cloudprovider.InstanceType {
	it := &cloudprovider.InstanceType{Name: s.machine.Name, Capacity: s.capacity, Overhead: s.overhead}
	possible := len(nodeconfig.Fatal(s.problems)) == 0
	for _, o := range azure.Offerings(s.machine) {
		it.Offerings = append(it.Offerings, &cloudprovider.Offering{
			Price: in.price(s.machine, o), Available: possible && !exhausted(o), Requirements: requirements(s.machine, o),
		})
	}
	it.Requirements = s.requirements(it.Offerings)
	return it
}

// requirements has each label of the size's nodes that Karpenter knows: a pod that asks for a label that the nodes lack does not
// fit.
func (s *size) requirements(offerings cloudprovider.Offerings) scheduling.Requirements {
	requirements := scheduling.NewRequirements()
	for label := range v1.WellKnownLabels {
		if label == v1.NodePoolLabelKey { // the pool sets it
			continue
		}
		values := s.labels[label]
		if offerings[0].Requirements.Has(label) { // the offering sets it
			values = nil
			for _, o := range offerings {
				values = append(values, o.Requirements.Get(label).Values()...)
			}
		}
		operator := corev1.NodeSelectorOpIn
		if len(values) == 0 {
			operator = corev1.NodeSelectorOpDoesNotExist
		}
		requirements.Add(scheduling.NewRequirement(label, operator, values...))
	}
	return requirements
}
