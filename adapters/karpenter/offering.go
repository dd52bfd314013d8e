package karpenter

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/utils/resources"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
)

// offering is an instance type in a zone as a capacity type. The zone is empty where the cloud chooses.
type offering struct{ size, zone, kind string }

// capacityTypes are those that machines can have.
var capacityTypes = []string{v1.CapacityTypeOnDemand, v1.CapacityTypeSpot}

// zonesOf are the zones of an instance type; "" where none is known, so that the cloud chooses.
func zonesOf(t *launch.InstanceType) []string {
	if len(t.Zones) == 0 {
		return []string{""}
	}
	return t.Zones
}

// labels are those that a node has for the offering.
func (o offering) labels() map[string]string {
	labels := map[string]string{v1.CapacityTypeLabelKey: o.kind}
	if o.zone != "" {
		labels[corev1.LabelTopologyZone] = o.zone
	}
	return labels
}

// isZone reports whether a machine is put into the zone; else the cloud chooses.
func isZone(zone string) bool { return zone != "" }

// offerings are all of the size.
func (s *size) offerings() []offering {
	var all []offering
	for _, zone := range zonesOf(s.machine) {
		for _, kind := range capacityTypes {
			all = append(all, offering{s.machine.Name, zone, kind})
		}
	}
	return all
}

// price is what an offering costs.
func (in *Inputs) price(t *launch.InstanceType, zone, kind string) float64 {
	if in.Price == nil {
		return RelativePrice(t, zone, kind)
	}
	return in.Price(t, zone, kind)
}

// The numbers of [RelativePrice].
const (
	memoryPerCPU = 8 << 30 // as much memory counts like a processor
	spotPart     = 0.5
	unknownSize  = 1e6 // a size of a series that AKS is not known to run is the last choice
)

// RelativePrice orders offerings if no prices are given: by processors and memory, spot before on-demand, and a series that AKS is
// known to run before any other (Karpenter for Azure: known_skus.yaml). It is no money, and a cheap series is as dear as any other.
func RelativePrice(t *launch.InstanceType, _, capacityType string) float64 {
	price := float64(t.VCPUs) + float64(t.MemoryBytes)/memoryPerCPU
	if !new(azure.Input).KnownSeries(t.Name) {
		price += unknownSize
	}
	if capacityType == v1.CapacityTypeSpot {
		price *= spotPart
	}
	return price
}

// exhausted are the offerings that the cloud has refused. Without it, a claim that failed would be tried in the same place.
type exhausted struct {
	mu      sync.Mutex
	until   map[offering]time.Time
	changes uint64
}

// add keeps offerings from being offered until a time. One that is to stay away for longer does so.
func (e *exhausted) add(taken []offering, until time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.until == nil {
		e.until = make(map[offering]time.Time)
	}
	for _, o := range taken {
		if e.until[o].Before(until) {
			e.until[o] = until
		}
	}
	e.changes++
}

// state counts the changes until now. What was made of one state is right in it.
func (e *exhausted) state(now time.Time) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	for o, until := range e.until {
		if !until.After(now) {
			delete(e.until, o)
			e.changes++
		}
	}
	return e.changes
}

// has reports whether an offering is exhausted in the state that was looked at last.
func (e *exhausted) has(o offering) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.until[o]
	return ok
}

// candidate is an offering that a claim allows.
type candidate struct {
	offering
	price float64
}

// candidates are the offerings that a claim allows and that the cloud has room for, the cheapest first.
func candidates(claim *v1.NodeClaim, all []*cloudprovider.InstanceType, exhausted func(offering) bool) []candidate {
	wanted := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...)
	var found []candidate
	for _, it := range all {
		suitable := wanted.IsCompatible(it.Requirements, scheduling.AllowUndefinedWellKnownLabels)
		if !suitable || !resources.Fits(claim.Spec.Resources.Requests, it.Allocatable()) {
			continue
		}
		for _, o := range it.Offerings.Compatible(wanted) {
			if c := (candidate{offering{it.Name, o.Zone(), o.CapacityType()}, o.Price}); !exhausted(c.offering) {
				found = append(found, c)
			}
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(
			cmp.Compare(a.price, b.price),
			strings.Compare(a.size, b.size), strings.Compare(a.zone, b.zone), strings.Compare(a.kind, b.kind),
		)
	})
	return found
}
