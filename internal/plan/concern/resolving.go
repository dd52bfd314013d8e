package concern

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// podResolver decides that file where the contract names none.
func podResolver(in *Input) (path string, assumed bool) {
	k := in.Config.Kubelet
	_, named := k.Config[ResolverField] // "" is a value: the pods have no DNS server then
	named = named || slices.ContainsFunc(k.Flags, func(f nodeconfig.Flag) bool { return f.Name == ResolverFlag })
	switch list := in.Family.Host.ResolvedList; {
	case named, list == profile.NoList, list == profile.ListOverStub && !in.Distro.Resolver.Stub:
		return "", false
	}
	runs, assumed := in.runsResolved()
	if !runs {
		return "", assumed
	}
	return ResolvedList, assumed
}

// runsResolved reports whether systemd-resolved runs on the node. A unit of the contract decides, or else the fact.
func (in *Input) runsResolved() (runs, assumed bool) {
	for _, u := range in.Config.Units {
		if u.Name == facts.ResolvedUnit && (u.Enabled || u.State.Kept() || u.State == nodeconfig.UnitStarted) {
			return !u.State.Kept(), false
		}
	}
	if known := in.Facts.Resolved; known != nil {
		return *known, false
	}
	return in.Distro.Resolver.Resolved, true
}

// ResolvedList is systemd-resolved's list of the DNS servers that the machine asks (systemd-resolved.service(8)).
const ResolvedList = "/run/systemd/resolve/resolv.conf"

// The kubelet's setting that names the file of the DNS servers that it gives to pods with the host's DNS.
const ResolverFlag, ResolverField = "resolv-conf", "resolvConf"
