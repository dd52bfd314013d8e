package karpenter_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/launch"
)

// shortageTypes are two series in two zones. Standard_D4s_v5 is the one whose launch fails; a type of another series is as large.
func shortageTypes(t testing.TB) []launch.InstanceType {
	t.Helper()
	all := inputs(t, "").Types
	model := all[slices.IndexFunc(all, func(t launch.InstanceType) bool { return t.Name == "Standard_D4s_v5" })]
	model.Zones = []string{"eastus-1", "eastus-2"}
	var types []launch.InstanceType
	for _, row := range []struct {
		name string
		cpus int
	}{{"Standard_D2s_v5", 2}, {"Standard_D4s_v5", 4}, {"Standard_D8s_v5", 8}, {"Standard_E2s_v5", 2}, {"Standard_E4s_v5", 4}} {
		one := model
		one.Name, one.VCPUs = row.name, row.cpus
		types = append(types, one)
	}
	return types
}

// missing are the withheld offerings, in short: "D4 1 on-demand".
func (f *fixture) missing() []string {
	f.t.Helper()
	short := strings.NewReplacer("Standard_", "", "s_v5", "", "eastus-", "")
	set := make(map[string]bool)
	for name, it := range f.offered() {
		for _, o := range it.Offerings {
			if !o.Available {
				set[short.Replace(fmt.Sprintf("%s %s %s", name, o.Zone(), o.CapacityType()))] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// product is every combination of sizes, zones and capacity types, in the form of missing.
func product(sizes, zones, kinds string) []string {
	var all []string
	for size := range strings.SplitSeq(sizes, " ") {
		for zone := range strings.SplitSeq(zones, " ") {
			for kind := range strings.SplitSeq(kinds, " ") {
				all = append(all, size+" "+zone+" "+kind)
			}
		}
	}
	slices.Sort(all)
	return all
}

// TestShortages: each class of refusal withholds its offerings, for its time, and has its error of the core.
func TestShortages(t *testing.T) {
	const every, both, all, kinds = "D2 D4 D8 E2 E4", "1 2", "0 1 2", "on-demand spot"
	for class, c := range map[karpenter.LaunchClass]struct {
		spot    bool
		missing []string
		lasts   time.Duration
		deletes bool
	}{
		karpenter.NoCapacity:                   {missing: product("D4", "1", "on-demand"), lasts: 3 * time.Minute, deletes: true},
		karpenter.ZonalAllocationFailed:        {missing: product("D4 D8", "1", kinds), lasts: time.Hour},
		karpenter.AllocationFailed:             {missing: product("D4 D8", both, kinds), lasts: time.Hour},
		karpenter.OverconstrainedZonal:         {missing: product("D4 D8", "1", "on-demand"), lasts: time.Hour},
		karpenter.Overconstrained:              {missing: product("D4 D8", both, "on-demand"), lasts: time.Hour},
		karpenter.SKUNotAvailable:              {missing: product("D4 D8", both, "on-demand"), lasts: 23 * time.Hour},
		karpenter.SKUNotAvailable + " of spot": {spot: true, missing: product("D4 D8", both, "spot"), lasts: time.Hour},
		karpenter.SKURestricted:                {missing: product("D4 D8", all, kinds), lasts: 23 * time.Hour},
		karpenter.FamilyQuotaReached:           {missing: product("D4 D8", all, "on-demand"), lasts: 10 * time.Minute},
		karpenter.FamilyWithoutQuota:           {missing: product("D2 D4 D8", all, "on-demand"), lasts: time.Hour},
		karpenter.SpotQuotaReached:             {spot: true, missing: product(every, all, "spot"), lasts: time.Hour},
		karpenter.RegionalQuotaReached:         {missing: product("D4 D8 E4", all, "on-demand"), lasts: 3 * time.Minute, deletes: true},
		karpenter.Throttled:                    {},
	} {
		t.Run(string(class), func(t *testing.T) {
			said, _, _ := strings.Cut(string(class), " ")
			refusal := &karpenter.LaunchError{Class: karpenter.LaunchClass(said), Err: errors.New("the cloud says no")}
			f := newFixture(t, func(f *fixture) {
				f.options.Inputs.Types = shortageTypes(t)
				f.cloud.startErr = func(karpenter.Launch) error { return fmt.Errorf("start: %w", refusal) }
			})
			kind := map[bool]string{false: "on-demand", true: "spot"}[c.spot]
			_, err := f.provider.Create(f.ctx, shortageClaim(t, kind))
			created, isCreate := errors.AsType[*cloudprovider.CreateError](err)
			switch {
			case cloudprovider.IsInsufficientCapacityError(err) != c.deletes, isCreate == c.deletes:
				t.Errorf("%T: %v", err, err)
			case isCreate && (created.ConditionReason != said || !strings.Contains(created.ConditionMessage, "the cloud says no")):
				t.Errorf("%s: %s", created.ConditionReason, created.ConditionMessage)
			}
			if got := f.missing(); !slices.Equal(got, c.missing) {
				t.Errorf("%q are taken away, want %q", got, c.missing)
			}
			f.clock.Step(c.lasts - time.Second)
			if got := f.missing(); c.lasts > 0 && !slices.Equal(got, c.missing) {
				t.Errorf("a second early, %q are taken away", got)
			}
			f.clock.Step(time.Second)
			if got := f.missing(); len(got) != 0 {
				t.Errorf("%q are taken away for longer than %s", got, c.lasts)
			}
		})
	}
}

// TestShortagesOfFamilies: if the list of sizes names families, these count, whatever the names' series are.
func TestShortagesOfFamilies(t *testing.T) {
	f := newFixture(t, func(f *fixture) {
		types := shortageTypes(t)
		for i := range types {
			types[i].Family = map[string]string{"Standard_D4s_v5": "standardOneFamily", "Standard_E4s_v5": "StandardOneFamily"}[types[i].Name]
			if types[i].Name == "Standard_D8s_v5" {
				types[i].Family = "standardOtherFamily"
			}
		}
		f.options.Inputs.Types = types
		f.cloud.startErr = func(karpenter.Launch) error { return &karpenter.LaunchError{Class: karpenter.FamilyWithoutQuota} }
	})
	if _, err := f.provider.Create(f.ctx, shortageClaim(t, "on-demand")); err == nil {
		t.Error("it is launched")
	}
	// The list names no family for D2, so its series counts; D8 has another family, and E4 the same one.
	if got, want := f.missing(), product("D2 D4 E4", "0 1 2", "on-demand"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// shortageClaim wants Standard_D4s_v5 in the first zone.
func shortageClaim(t testing.TB, kind string) *v1.NodeClaim {
	t.Helper()
	return claimOf(t, "general-abcde", "spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: ["+kind+"]}, "+
		"{key: topology.kubernetes.io/zone, operator: In, values: [eastus-1]}, {key: node.kubernetes.io/instance-type, operator: In, values: [Standard_D4s_v5]}]}")
}

// TestShortagesAddUp: a later, shorter refusal does not shorten a longer one, and an unknown class withholds nothing.
func TestShortagesAddUp(t *testing.T) {
	var class karpenter.LaunchClass
	f := newFixture(t, func(f *fixture) {
		f.options.Inputs.Types = shortageTypes(t)
		f.cloud.startErr = func(karpenter.Launch) error { return &karpenter.LaunchError{Class: class} }
	})
	smaller := claimOf(t, "general-fghij", "spec: {resources: {requests: {cpu: 1}}, requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}, "+
		"{key: topology.kubernetes.io/zone, operator: In, values: [eastus-1, eastus-2]}, {key: node.kubernetes.io/instance-type, operator: In, values: [Standard_D2s_v5]}]}")
	class = karpenter.Overconstrained
	if _, err := f.provider.Create(f.ctx, shortageClaim(t, "on-demand")); err == nil || !strings.Contains(err.Error(), string(class)) {
		t.Error(err)
	}
	class = karpenter.FamilyQuotaReached
	if _, err := f.provider.Create(f.ctx, smaller); err == nil {
		t.Error("it is launched")
	}
	if got, want := f.missing(), product("D2 D4 D8", "0 1 2", "on-demand"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	f.clock.Step(10 * time.Minute)
	if got, want := f.missing(), product("D4 D8", "1 2", "on-demand"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	f.clock.Step(time.Hour)
	class = "Moon"
	_, err := f.provider.Create(f.ctx, smaller)
	if created, is := errors.AsType[*cloudprovider.CreateError](err); !is || created.ConditionReason != karpenter.MachineNotStarted || len(f.missing()) != 0 {
		t.Errorf("%v, %q", err, f.missing())
	}
}
