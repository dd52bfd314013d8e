package plan

import (
	"github.com/slipway-dev/slipway/internal/resource"
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
