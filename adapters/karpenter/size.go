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

// size is an instance type with what nodes of a class have on it.
type size struct {
	machine *launch.InstanceType
	// problems are all that is wrong with a node of the class on it. A fatal one means that there can be none.
	problems []nodeconfig.Problem
	// labels are the values that the labels of such nodes can have.
	labels   map[string][]string
	capacity corev1.ResourceList
	overhead *cloudprovider.InstanceTypeOverhead
}

// GetInstanceTypes returns the instance types with what nodes of the pool's class have on them. One on which there can be no such
// node has no offering that is available; one of which processors and memory are not known is left out.
func (p *Provider) GetInstanceTypes(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	c, err := p.readyClass(ctx, pool.Spec.Template.Spec.NodeClassRef)
	if err != nil {
		return nil, err
	}
	offered, err := p.offer(c)
	return slices.Clone(offered), err // the core sorts what it gets
}

// offer are the instance types of a class for the scheduler. The result is not to be changed.
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

// measure finds out what nodes of the class have on each instance type, once.
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

// size is what nodes have on an instance type: what is rendered for claims that want nothing else.
func (c *class) size(t *launch.InstanceType) (*size, error) {
	s := &size{machine: t, labels: make(map[string][]string)}
	offerings := azure.Offerings(t)
	for i, o := range offerings {
		if o.Zone != offerings[0].Zone {
			break // the same problems and labels, but for those of the zone
		}
		made := c.render(t, requestOf(new(launch.NodeClaim), nil, labelsOf(o)))
		if i == 0 {
			s.problems = made.Problems() // they are the same for the others
		}
		document := made.Document()
		for label, value := range document.Node.Kubelet.Labels {
			if !slices.Contains(s.labels[label], value) {
				s.labels[label] = append(s.labels[label], value)
			}
		}
		machine := &document.Machine
		if len(machine.Capacity) == 0 {
			return s, nil // the problems say what is not known
		}
		if err := s.reserve(machine, document.Node.Kubelet.Config); err != nil {
			return nil, fmt.Errorf("the instance type %s: %w", t.Name, err)
		}
	}
	return s, nil
}

// reserve takes what a scheduler is told of a node. What pods cannot have are the thresholds of eviction, and else the kubelet's.
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

// quantities are amounts as Kubernetes has them.
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

// instanceType is the size for the scheduler.
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

// requirements are the labels of the size's nodes, for each label that Karpenter knows: a pod that asks for one that the nodes do
// not have does not fit.
func (s *size) requirements(offerings cloudprovider.Offerings) scheduling.Requirements {
	requirements := scheduling.NewRequirements()
	for label := range v1.WellKnownLabels {
		if label == v1.NodePoolLabelKey { // the pool's own
			continue
		}
		values := s.labels[label]
		if offerings[0].Requirements.Has(label) { // it follows from the offering
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
