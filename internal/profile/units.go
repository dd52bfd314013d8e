package profile

import (
	"slices"
	"strings"
)

// ownUnits is what the names of Slipway's own units begin with, in every family.
const ownUnits = "slipway-"

// IsAgentUnit reports whether a unit is one of those by which the agent runs, of any family.
func IsAgentUnit(unit string) bool {
	return strings.HasPrefix(unit, ownUnits) || slices.ContainsFunc(All(), func(p *Profile) bool { return unit == p.Agent.Unit })
}

// IsOwnUnit reports whether Slipway, of any family, plans a unit or runs as that unit.
func IsOwnUnit(unit string) bool {
	return unit == KubeletUnit || unit == ContainerdUnit || IsAgentUnit(unit) ||
		slices.ContainsFunc(All(), func(p *Profile) bool { return unit == p.Kubelet.Prepare })
}
