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

// labelsOf are the labels of a claim with the offering.
func labelsOf(o azure.Offering) map[string]string {
	return map[string]string{v1.CapacityTypeLabelKey: o.CapacityType, corev1.LabelTopologyZone: o.Zone}
}

// requirements are the offering's labels, for the scheduler.
func requirements(t *launch.InstanceType, o azure.Offering) scheduling.Requirements {
	all := scheduling.NewRequirements()
	for label, values := range o.Labels(t) {
		all.Add(scheduling.NewRequirement(label, corev1.NodeSelectorOpIn, values...))
	}
	return all
}

// price is what an offering costs.
func (in *Inputs) price(t *launch.InstanceType, o azure.Offering) float64 {
	if !azure.IsZone(o.Zone) {
		o.Zone = ""
	}
	if in.Price == nil {
		return RelativePrice(t, o.Zone, o.CapacityType)
	}
	return in.Price(t, o.Zone, o.CapacityType)
}

// The numbers of [RelativePrice].
const (
	memoryPerCPU = 8 << 30 // this much memory weighs as much as one processor
	spotPart     = 0.5
	unknownSize  = 1e6 // the weight of a size whose series AKS is not known to run: the last choice
)

// RelativePrice sorts offerings if no prices are given: by processors and memory, spot before on-demand, and series that AKS is
// known to run before all others (Karpenter for Azure: known_skus.yaml). It is not a real price: it does not know that one series
// is cheaper than another.
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

// exhausted are the offerings that the cloud has refused. Without it, a failed claim would be tried with the same offering again.
type exhausted struct {
	mu      sync.Mutex
	until   map[azure.Offering]time.Time
	changes uint64
}

// add withholds offerings until a time. An offering that is already withheld for longer stays so.
func (e *exhausted) add(taken []azure.Offering, until time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.until == nil {
		e.until = make(map[azure.Offering]time.Time)
	}
	for _, o := range taken {
		if e.until[o].Before(until) {
			e.until[o] = until
		}
	}
	e.changes++
}

// state counts the changes until now. A result that was computed in one state stays valid in that state.
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

// has reports whether an offering is exhausted in the state that state returned last.
func (e *exhausted) has(o azure.Offering) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.until[o]
	return ok
}

// candidate is an offering that a claim allows.
type candidate struct {
	azure.Offering
	price float64
}

// candidates are the offerings that a claim allows and that the cloud has room for, the cheapest first. At the same price, spot
// machines go first, then offerings in a zone (Karpenter for Azure v1.7: compareOfferings).
func candidates(claim *v1.NodeClaim, all []*cloudprovider.InstanceType, exhausted func(azure.Offering) bool) []candidate {
	wanted := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...)
	var found []candidate
	for _, it := range all {
		suitable := wanted.IsCompatible(it.Requirements, scheduling.AllowUndefinedWellKnownLabels)
		if !suitable || !resources.Fits(claim.Spec.Resources.Requests, it.Allocatable()) {
			continue
		}
		for _, o := range it.Offerings.Compatible(wanted) {
			if c := (candidate{azure.Offering{Type: it.Name, Zone: o.Zone(), CapacityType: o.CapacityType()}, o.Price}); !exhausted(c.Offering) {
				found = append(found, c)
			}
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(
			cmp.Compare(a.price, b.price),
			strings.Compare(b.CapacityType, a.CapacityType), regionalLast(a.Zone)-regionalLast(b.Zone),
			strings.Compare(a.Type, b.Type), strings.Compare(a.Zone, b.Zone),
		)
	})
	return found
}

// regionalLast orders offerings in a zone before those in no zone.
func regionalLast(zone string) int {
	if azure.IsZone(zone) {
		return 0
	}
	return 1
}
