package karpenter_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/launch"
)

// placed returns where the last machine was started: its zone, and its node's labels.
func (f *fixture) placed() (zone, label, scope string) {
	d := f.cloud.started[len(f.cloud.started)-1].Launch.Document()
	return d.Machine.Zone, d.Node.Kubelet.Labels[corev1.LabelTopologyZone], d.Node.Kubelet.Labels["karpenter.azure.com/placement-scope"]
}

// zoneClaim is the example's claim in some zones.
func zoneClaim(t testing.TB, zones, more string) *v1.NodeClaim {
	return claimOf(t, "general-abcde", "spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}, "+
		"{key: topology.kubernetes.io/zone, operator: In, values: ["+zones+"]}, {key: node.kubernetes.io/instance-type, operator: In, values: [Standard_D4ds_v5]}"+more+"]}")
}

// TestRegional: a claim can ask for a machine in no zone. A claim that leaves the choice gets a zone, or no zone if no zone has
// room. The choice is no drift.
func TestRegional(t *testing.T) {
	for name, c := range map[string]struct {
		zones, more string
		full        []string // the zones without room
		zone        string
		label       string
	}{
		"asked for":                     {zones: `"0"`, label: "0"},
		"a zone goes first":             {zones: `"0", eastus-2`, zone: "eastus-2", label: "eastus-2"},
		"no zone has room":              {zones: `"0", eastus-2, eastus-3`, full: []string{"eastus-2", "eastus-3"}, label: "0"},
		"by the label of the placement": {zones: `"0", eastus-2`, more: ", {key: karpenter.azure.com/placement-scope, operator: In, values: [regional]}", label: "0"},
		"a zone by the same label":      {zones: `"0", eastus-3`, more: ", {key: karpenter.azure.com/placement-scope, operator: In, values: [zonal]}", zone: "eastus-3", label: "eastus-3"},
	} {
		t.Run(name, func(t *testing.T) {
			claim := zoneClaim(t, c.zones, c.more)
			f := newFixture(t, func(f *fixture) {
				f.cloud.startErr = func(l karpenter.Launch) error {
					if slices.Contains(c.full, l.Launch.Document().Machine.Zone) {
						return &karpenter.LaunchError{Class: karpenter.ZonalAllocationFailed, Err: errors.New("no room")}
					}
					return nil
				}
			}, claim)
			var launched *v1.NodeClaim
			for range len(c.full) + 1 {
				launched = f.lifecycle("general-abcde")
			}
			if !launched.StatusConditions().IsTrue(v1.ConditionTypeLaunched) {
				t.Fatal(launched.Status.Conditions, f.errors)
			}
			zone, label, scope := f.placed()
			wantScope := "regional"
			if c.zone != "" {
				wantScope = "zonal"
			}
			if zone != c.zone || label != c.label || scope != wantScope || launched.Labels[corev1.LabelTopologyZone] != c.label {
				t.Errorf("zone %q, label %q, %s; the claim's label is %q", zone, label, scope, launched.Labels[corev1.LabelTopologyZone])
			}
			f.restart()
			if reason, err := f.provider.IsDrifted(f.ctx, launched); err != nil || reason != "" {
				t.Errorf("it has drifted: %s, %v", reason, err)
			}
		})
	}
}

// TestPlacements: the scheduler sees each offering's properties: a placement that a pod requires fits, and Ultra SSD fits if the
// type has it.
func TestPlacements(t *testing.T) {
	in := inputs(t, "")
	for i := range in.Types {
		if in.Types[i].Name == "Standard_D4ds_v5" {
			in.Types[i].UltraSSDZones = []string{"eastus-1", "0"}
		}
	}
	f := newFixture(t, func(f *fixture) { f.options.Inputs = in })
	it := f.offered()["Standard_D4ds_v5"]
	for name, c := range map[string]struct {
		labels map[string]string
		zones  string
	}{
		"regional":           {map[string]string{"karpenter.azure.com/placement-scope": "regional"}, "0"},
		"zonal":              {map[string]string{"karpenter.azure.com/placement-scope": "zonal"}, "eastus-1 eastus-2 eastus-3"},
		"with Ultra SSD":     {map[string]string{"karpenter.azure.com/sku-storage-ultra-ssd": "true"}, "0 eastus-1"},
		"without Ultra SSD":  {map[string]string{"karpenter.azure.com/sku-storage-ultra-ssd": "false"}, "0 eastus-1 eastus-2 eastus-3"},
		"a zone and neither": {map[string]string{corev1.LabelTopologyZone: "eastus-2"}, "eastus-2"},
	} {
		wanted := scheduling.NewLabelRequirements(c.labels)
		var zones []string
		for _, o := range it.Offerings.Compatible(wanted) {
			if o.CapacityType() == v1.CapacityTypeOnDemand {
				zones = append(zones, o.Zone())
			}
		}
		slices.Sort(zones)
		if got := strings.Join(zones, " "); got != c.zones || it.Requirements.Intersects(wanted) != nil {
			t.Errorf("%s: %q, want %q", name, got, c.zones)
		}
	}
	claim := zoneClaim(t, `"0", eastus-1, eastus-2`, `, {key: karpenter.azure.com/sku-storage-ultra-ssd, operator: In, values: ["true"]}`)
	if _, err := f.provider.Create(f.ctx, claim); err != nil {
		t.Fatal(err)
	}
	m := &f.cloud.started[0].Launch.Document().Machine
	if m.Zone != "eastus-1" || m.UltraSSD == nil || !*m.UltraSSD {
		t.Errorf("zone %q, %v", m.Zone, m.UltraSSD)
	}
}

// TestSpotCapability: a type that cannot be a spot machine has no spot offering; a type for which that is unknown has one.
func TestSpotCapability(t *testing.T) {
	for name, c := range map[string]struct {
		able *bool
		want int
	}{"able": {new(true), 4}, "not able": {new(false), 0}, "not known": {nil, 4}} {
		in := inputs(t, "")
		i := slices.IndexFunc(in.Types, func(t launch.InstanceType) bool { return t.Name == "Standard_D4ds_v5" })
		in.Types[i].Spot = c.able
		f := newFixture(t, func(f *fixture) { f.options.Inputs = in })
		it, spot := f.offered()["Standard_D4ds_v5"], 0
		for _, o := range it.Offerings {
			if o.CapacityType() == v1.CapacityTypeSpot {
				spot++
			}
		}
		if spot != c.want || it.Requirements.Get(v1.CapacityTypeLabelKey).Has("spot") != (c.want > 0) {
			t.Errorf("%s: %d spot offerings, %v", name, spot, it.Requirements.Get(v1.CapacityTypeLabelKey))
		}
	}
}
