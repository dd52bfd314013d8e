package karpenter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	"github.com/slipway-dev/slipway/launch/azure"
)

// LaunchClass is why a cloud starts no machine. It decides which offerings are withheld for a while.
type LaunchClass string

// The classes, with the codes of Azure's answers (Azure: "Resolve errors in VM allocation", "Resolve quota errors").
const (
	// NoCapacity: the cloud has no room for a machine of that instance type, zone and capacity type, and gives no details.
	NoCapacity LaunchClass = "NoCapacity"
	// ZonalAllocationFailed: the zone has no room for the size. Code ZonalAllocationFailed.
	ZonalAllocationFailed LaunchClass = "ZonalAllocationFailed"
	// AllocationFailed: the region has no room for the size. Code AllocationFailed.
	AllocationFailed LaunchClass = "AllocationFailed"
	// OverconstrainedZonal: the zone has no room for the size as that capacity type. Code OverconstrainedZonalAllocationRequest.
	OverconstrainedZonal LaunchClass = "OverconstrainedZonalAllocation"
	// Overconstrained: no zone has room for the size as that capacity type. Code OverconstrainedAllocationRequest.
	Overconstrained LaunchClass = "OverconstrainedAllocation"
	// SKUNotAvailable: the region does not have the size as that capacity type. Code SkuNotAvailable.
	SKUNotAvailable LaunchClass = "SKUNotAvailable"
	// SKURestricted: the subscription may not have the size. Code VMSizeNotSupported.
	SKURestricted LaunchClass = "SKURestricted"
	// FamilyQuotaReached: the rest of the family's quota is less than the size needs. Code OperationNotAllowed, or QuotaExceeded,
	// with the family's cores in the message.
	FamilyQuotaReached LaunchClass = "FamilyQuotaReached"
	// FamilyWithoutQuota: the subscription has no quota for the size's family. The same codes with a current limit of 0.
	FamilyWithoutQuota LaunchClass = "FamilyWithoutQuota"
	// SpotQuotaReached: the quota of spot machines is used up. The same codes with LowPriorityCores in the message.
	SpotQuotaReached LaunchClass = "SpotQuotaReached"
	// RegionalQuotaReached: the rest of the region's quota is less than the size needs. The same codes with Total Regional Cores.
	RegionalQuotaReached LaunchClass = "RegionalQuotaReached"
	// Throttled: the cloud accepts no more requests now. Status 429, code TooManyRequests. The client waits as long as the cloud
	// asks for.
	Throttled LaunchClass = "Throttled"
)

// LaunchError is the error of [Machines] for a machine that the cloud does not start for one of these reasons.
type LaunchError struct {
	Class LaunchClass
	// Err is the cloud's error. It may be nil.
	Err error
}

// Error returns the class and the cloud's error.
func (e *LaunchError) Error() string {
	if e.Err == nil {
		return string(e.Class)
	}
	return string(e.Class) + ": " + e.Err.Error()
}

// Unwrap returns the cloud's error.
func (e *LaunchError) Unwrap() error { return e.Err }

// shortage is the offerings that a class of refusal makes unavailable: of some sizes, in some zones, as some capacity types.
type shortage struct {
	class LaunchClass
	sizes func(refused, other *size) bool
	zones func(refused, other string) bool
	kinds func(refused, other string) bool
	// lasts is for how long. If onDemand is longer, it counts for on-demand offerings.
	lasts, onDemand time.Duration
	// deletes reports whether the claim's other offerings would fail as well: the core then deletes the claim, and its pods get
	// another one. Otherwise the claim stays, and its next offering is tried.
	deletes bool
}

// How long an offering is withheld (Karpenter for Azure v1.7: pkg/providers/instance/offerings, pkg/cache).
const (
	soon      = 3 * time.Minute  // the cloud does not say how long it lasts
	someQuota = 10 * time.Minute // long enough to try the smaller sizes of a family
	longer    = time.Hour
	aDay      = 23 * time.Hour // a region gets no new sizes within a day
)

// shortages are all classes. If a size is refused, all sizes that are as large or larger would be refused as well. Karpenter for
// Azure withholds nothing if a region's quota is reached, so its core asks for the same size at once; here sizes that are as large
// wait.
var shortages = []shortage{
	{class: NoCapacity, sizes: thisSize, zones: same, kinds: same, lasts: soon, deletes: true},
	{class: ZonalAllocationFailed, sizes: asLargeOfFamily, zones: same, kinds: every, lasts: longer},
	{class: AllocationFailed, sizes: asLargeOfFamily, zones: placement, kinds: every, lasts: longer},
	{class: OverconstrainedZonal, sizes: asLargeOfFamily, zones: same, kinds: same, lasts: longer},
	{class: Overconstrained, sizes: asLargeOfFamily, zones: placement, kinds: same, lasts: longer},
	{class: SKUNotAvailable, sizes: asLargeOfFamily, zones: placement, kinds: same, lasts: longer, onDemand: aDay},
	{class: SKURestricted, sizes: asLargeOfFamily, zones: every, kinds: every, lasts: aDay},
	{class: FamilyQuotaReached, sizes: asLargeOfFamily, zones: every, kinds: same, lasts: someQuota},
	{class: FamilyWithoutQuota, sizes: ofFamily, zones: every, kinds: same, lasts: longer},
	{class: SpotQuotaReached, sizes: anySize, zones: every, kinds: ofSpot, lasts: longer},
	{class: RegionalQuotaReached, sizes: asLarge, zones: every, kinds: same, lasts: soon, deletes: true},
	{class: Throttled, sizes: noSize, zones: every, kinds: every},
}

// The sizes, zones and capacity types of the table.

func noSize(_, _ *size) bool             { return false }
func anySize(_, _ *size) bool            { return true }
func thisSize(refused, other *size) bool { return refused.machine.Name == other.machine.Name }
func asLarge(refused, other *size) bool  { return other.machine.VCPUs >= refused.machine.VCPUs }
func asLargeOfFamily(refused, other *size) bool {
	return ofFamily(refused, other) && asLarge(refused, other)
}
func every(_, _ string) bool          { return true }
func same(refused, other string) bool { return refused == other }
func ofSpot(_, other string) bool     { return other == v1.CapacityTypeSpot }

// placement reports whether both are zones, or neither is.
func placement(refused, other string) bool { return azure.IsZone(refused) == azure.IsZone(other) }

// labelSeries is a node's label with the series of its size.
const labelSeries = "karpenter.azure.com/sku-series"

// ofFamily reports whether a size belongs to the same family, which shares a quota and hardware. If a list does not name the
// families, the sizes of one series are one family. A size with neither belongs to no other size's family.
func ofFamily(refused, other *size) bool {
	if a, b := refused.machine.Family, other.machine.Family; a != "" && b != "" {
		return strings.EqualFold(a, b)
	}
	series := refused.labels[labelSeries]
	return thisSize(refused, other) || len(series) > 0 && slices.Equal(series, other.labels[labelSeries])
}

// refusal is the error of a launch that the cloud has refused. It is nil for an error of another kind. The class's offerings are
// withheld for a while.
func (p *Provider) refusal(ctx context.Context, chosen *choice, err error, secrets ...string) error {
	refusal, is := errors.AsType[*LaunchError](err)
	if !is {
		return nil
	}
	i := slices.IndexFunc(shortages, func(s shortage) bool { return s.class == refusal.Class })
	if i < 0 {
		return nil
	}
	row := &shortages[i]
	sizes, measureErr := chosen.class.measure()
	if measureErr != nil {
		return measureErr // the sizes were measured for the choice
	}
	lasts := row.lasts
	if chosen.CapacityType == v1.CapacityTypeOnDemand {
		lasts = max(lasts, row.onDemand)
	}
	taken := row.offerings(chosen.Offering, sizes)
	p.exhausted.add(taken, p.clock.Now().Add(lasts))
	log.FromContext(ctx).Info("the cloud has refused a launch", "class", row.class, "type", chosen.Type, "zone", chosen.Zone,
		"capacityType", chosen.CapacityType, "offerings", len(taken), "for", lasts)
	err = fmt.Errorf("%s in %q as %s: %w", chosen.Type, chosen.Zone, chosen.CapacityType, without(err, secrets...))
	if row.deletes {
		return cloudprovider.NewInsufficientCapacityError(err)
	}
	return refused(string(row.class), err)
}

// offerings are those that a refusal withholds.
func (s *shortage) offerings(refused azure.Offering, sizes []*size) []azure.Offering {
	i := slices.IndexFunc(sizes, func(one *size) bool { return one.machine.Name == refused.Type })
	var taken []azure.Offering
	for _, other := range sizes {
		if !s.sizes(sizes[i], other) {
			continue
		}
		for _, o := range azure.Offerings(other.machine) {
			if s.zones(refused.Zone, o.Zone) && s.kinds(refused.CapacityType, o.CapacityType) {
				taken = append(taken, o)
			}
		}
	}
	return taken
}
