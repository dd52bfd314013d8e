package profile

import "strings"

// ownUnits is what the names of Slipway's own units begin with, in every family.
const ownUnits = "slipway-"

// IsAgentUnit reports whether a unit is one of those by which the agent runs, of any family.
func IsAgentUnit(unit string) bool {
	if strings.HasPrefix(unit, ownUnits) {
		return true
	}
	for _, p := range All() {
		if unit == p.Agent.Unit {
			return true
		}
	}
	return false
}

// IsOwnUnit reports whether a unit is one that Slipway plans or runs by, of any family.
func IsOwnUnit(unit string) bool {
	if unit == KubeletUnit || unit == ContainerdUnit || IsAgentUnit(unit) {
		return true
	}
	for _, p := range All() {
		if unit == p.Kubelet.Prepare {
			return true
		}
	}
	return false
}
