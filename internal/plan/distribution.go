package plan

import (
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// distribution reports a machine whose distribution is known only by its likeness to another one.
var distribution = concern{
	name: "distribution",
	plan: planDistribution,
}

func planDistribution(in *input, out *output) {
	if in.like != "" {
		out.warn(nodeconfig.Missing, "$", "%s is not in the table of distributions: the node is made as on %s, which its ID_LIKE names (%q)",
			systemName(in), in.distro.Name, in.like)
	}
}

// seen reports whether the facts are of a machine or an image. Otherwise the node can be on any distribution.
func (in *input) seen() bool { return in.facts.OS.ID != "" }

// systemName is the name of the machine's operating system in a problem.
func systemName(in *input) string {
	if !in.seen() {
		return "this machine, whose operating system is not known,"
	}
	return fmt.Sprintf("the operating system %q", in.facts.OS.ID)
}

// cgroupVersion is the version of the machine's control groups, 0 if it is not known; assumed says that no fact has it, and that it
// is the one with which the distribution's release starts.
func (in *input) cgroupVersion() (version int, assumed bool) {
	if in.facts.CgroupVersion != 0 {
		return in.facts.CgroupVersion, false
	}
	return in.distro.CgroupVersion(in.facts.OS.VersionID), true
}

// programPlace is the path of a program of the container runtime: where the facts have it, if that is a usual place of the distribution.
// Otherwise it is the family's place if that is a usual one, or else the first usual one.
func (in *input) programPlace(name, family string, usual []string) string {
	known := slices.DeleteFunc(slices.Clone(in.facts.Components), func(c components.Component) bool { return c.Name != name })
	switch {
	case slices.ContainsFunc(known, func(c components.Component) bool { return c.Path == family }):
	case len(known) > 0 && slices.Contains(usual, known[0].Path):
		return known[0].Path
	case in.seen() && !slices.Contains(usual, family):
		return usual[0]
	}
	return family
}
