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

// offering is an instance type in a zone as a capacity type.
type offering struct{ size, zone, kind string }

// regional is the zone of a machine in no zone, as its node's label has it.
var regional = new(azure.Input).Regional()

// isZone reports whether a machine is put into the zone; else the cloud chooses a place for it.
func isZone(zone string) bool { return zone != regional }

// zonesOf are the zones of an instance type. Each type is also offered in no zone: where a zone has no room, the region may have some
// (Karpenter for Azure v1.7: instanceTypeZones).
func zonesOf(t *launch.InstanceType) []string { return append(slices.Clone(t.Zones), regional) }

// kindsOf are the capacity types of an instance type: spot unless it is known that it cannot be a spot machine.
func kindsOf(t *launch.InstanceType) []string {
	if t.Spot != nil && !*t.Spot {
		return []string{v1.CapacityTypeOnDemand}
	}
	return []string{v1.CapacityTypeOnDemand, v1.CapacityTypeSpot}
}

// The labels of a node that follow from where its machine is.
const (
	labelScope    = "karpenter.azure.com/placement-scope"
	labelUltraSSD = "karpenter.azure.com/sku-storage-ultra-ssd"
)

// scope is the value of the label.
func scope(zone string) string {
	if isZone(zone) {
		return "zonal"
	}
	return "regional"
}

// ultraSSD are the values that the label can have in a zone.
func ultraSSD(t *launch.InstanceType, zone string) []string {
	if slices.Contains(t.UltraSSDZones, zone) {
		return []string{"false", "true"}
	}
	return []string{"false"}
}

// labels are those that a node has for the offering.
func (o offering) labels() map[string]string {
	return map[string]string{v1.CapacityTypeLabelKey: o.kind, corev1.LabelTopologyZone: o.zone}
}

// requirements are the offering for the scheduler.
func (o offering) requirements(t *launch.InstanceType) scheduling.Requirements {
	in := func(label string, values ...string) *scheduling.Requirement {
		return scheduling.NewRequirement(label, corev1.NodeSelectorOpIn, values...)
	}
	return scheduling.NewRequirements(
		in(corev1.LabelTopologyZone, o.zone), in(labelScope, scope(o.zone)), in(v1.CapacityTypeLabelKey, o.kind),
		in(labelUltraSSD, ultraSSD(t, o.zone)...),
	)
}

// offerings are all of the size.
func (s *size) offerings() []offering {
	var all []offering
	for _, zone := range zonesOf(s.machine) {
		for _, kind := range kindsOf(s.machine) {
			all = append(all, offering{s.machine.Name, zone, kind})
		}
	}
	return all
}

// price is what an offering costs.
func (in *Inputs) price(t *launch.InstanceType, zone, kind string) float64 {
	if !isZone(zone) {
		zone = ""
	}
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

// candidates are the offerings that a claim allows and that the cloud has room for, the cheapest first. Of the same price a spot machine goes
// first, and one in a zone (Karpenter for Azure v1.7: compareOfferings).
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
			strings.Compare(b.kind, a.kind), strings.Compare(scope(b.zone), scope(a.zone)),
			strings.Compare(a.size, b.size), strings.Compare(a.zone, b.zone),
		)
	})
	return found
}
