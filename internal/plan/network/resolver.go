package network

import (
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
)

// resolver takes systemd-resolved's stub out of the way: pods cannot reach a stub on the host's
// loopback.
var resolver = concern.Concern{
	Name: "resolver",
	Plan: planResolver,
}

func planResolver(in *concern.Input, out *concern.Output) {
	if in.Family.Host.ResolverLink && in.Distro.Resolver.Stub {
		out.Append(resource.Resource{
			Phase:  resource.Base,
			Reason: concern.Sourced("pods cannot use the resolver on the host's loopback address", in.Family.Sources.Resolver),
			Spec:   &resource.Symlink{Path: "/etc/resolv.conf", Target: concern.ResolvedList},
		})
	}
}
