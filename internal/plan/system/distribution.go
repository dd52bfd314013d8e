package system

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// distribution reports a machine whose distribution is known only by its similarity to another one, and refuses one that the
// contract excludes.
var distribution = concern.Concern{
	Name: "distribution",
	Plan: planDistribution,
}

func planDistribution(in *concern.Input, out *concern.Output) {
	have := in.Facts.OS
	if want := in.Config.Components.OS; want != nil && in.Seen() && (want.ID != have.ID || want.VersionID != "" && want.VersionID != have.VersionID) {
		out.Fatal(nodeconfig.Invalid, "$.components.os", "is not the operating system of the machine, which has %q", strings.TrimSpace(have.ID+" "+have.VersionID))
	}
	if in.Like != "" {
		out.Warn(nodeconfig.Missing, "$", "%s is not in the table of distributions: the node is made as on %s, which its ID_LIKE names (%q)",
			concern.SystemName(in), in.Distro.Name, in.Like)
	}
}
