package launch_test

import (
	"testing"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// TestZoneOfALabel: if a requirement leaves several zones, the claim's label chooses one of them, or no zone. A zone that the requirement
// excludes is refused.
func TestZoneOfALabel(t *testing.T) {
	for _, c := range []struct {
		label, zone string
		refused     bool
	}{
		{"", "eastus-1", false}, {"eastus-2", "eastus-2", false}, {"0", "", false}, {"eastus-3", "eastus-3", true},
	} {
		cloud, request, _ := base(t).decode(t)
		cloud.Type.Zones = []string{"eastus-1", "eastus-2", "eastus-3"}
		request.Claim.Spec.Requirements = []launch.Requirement{{Key: zone, Operator: "In", Values: []string{"0", "eastus-1", "eastus-2"}}}
		if c.label != "" {
			request.Claim.Metadata.Labels[zone] = c.label
		}
		made := launch.Render(cloud, request)
		problems := made.Problems()
		if fatal := nodeconfig.Fatal(problems); made.Document().Machine.Zone != c.zone || (len(fatal) > 0) != c.refused {
			t.Errorf("the label %q: zone %q, %v", c.label, made.Document().Machine.Zone, fatal)
		}
	}
}
