package plan

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// resolver takes systemd-resolved's stub out of the way: pods cannot reach a stub on the host's
// loopback.
var resolver = concern{
	name: "resolver",
	plan: planResolver,
}

func planResolver(in *input, out *output) {
	if in.family.Host.ResolverLink && in.distro.Resolver.Stub {
		out.add(resource.Resource{
			Phase:  resource.Base,
			Reason: sourced("pods cannot use the resolver on the host's loopback address", in.family.Sources.Resolver),
			Spec:   &resource.Symlink{Path: "/etc/resolv.conf", Target: ResolvedList},
		})
	}
}

// ResolvedList is systemd-resolved's list of the DNS servers that the machine asks (systemd-resolved.service(8)).
const ResolvedList = "/run/systemd/resolve/resolv.conf"

// The kubelet's setting that names the file of the DNS servers that it gives to pods with the host's DNS.
const resolverFlag, resolverField = "resolv-conf", "resolvConf"

// podResolver decides that file where the contract names none.
func podResolver(in *input) (path string, assumed bool) {
	k := in.config.Kubelet
	_, named := k.Config[resolverField] // "" is a value: the pods have no DNS server then
	named = named || slices.ContainsFunc(k.Flags, func(f nodeconfig.Flag) bool { return f.Name == resolverFlag })
	switch list := in.family.Host.ResolvedList; {
	case named, list == profile.NoList, list == profile.ListOverStub && !in.distro.Resolver.Stub:
		return "", false
	}
	runs, assumed := in.runsResolved()
	if !runs {
		return "", assumed
	}
	return ResolvedList, assumed
}

// runsResolved reports whether systemd-resolved runs on the node. A unit of the contract decides, or else the fact.
func (in *input) runsResolved() (runs, assumed bool) {
	for _, u := range in.config.Units {
		if u.Name == facts.ResolvedUnit && (u.Enabled || u.State.Kept() || u.State == nodeconfig.UnitStarted) {
			return !u.State.Kept(), false
		}
	}
	if known := in.facts.Resolved; known != nil {
		return *known, false
	}
	return in.distro.Resolver.Resolved, true
}

// assumedResolver reports what a node without an agent has, because no machine was looked at. An agent looks at its own.
func assumedResolver(in *input, out *output) {
	if in.resolverAssumed && in.agentless {
		reason := "is left to the kubelet, which reads /etc/resolv.conf"
		if in.resolver != "" {
			reason = "is " + in.resolver
		}
		out.warn(nodeconfig.Missing, "$.kubelet.config."+resolverField, "%s: no fact says whether systemd-resolved runs, so the distribution decides; name the file, or give the machine's facts", reason)
	}
}
