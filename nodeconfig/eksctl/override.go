package eksctl

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/eks"
)

// override reads the NodeConfig of nodeadm's that overrideBootstrapCommand is in some families, and takes over what it knows of the
// cluster; nil for none.
func (r *reader) override(g *NodeGroup, f *family) *eks.Result {
	at := r.group.path("overrideBootstrapCommand")
	if !f.nodeadm || g.OverrideBootstrapCommand == "" {
		return nil
	}
	if strings.HasPrefix(strings.TrimSpace(g.OverrideBootstrapCommand), "#!") {
		r.Fatal(nodeconfig.Invalid, at, "is a script, and in %s it is a NodeConfig of nodeadm's (%s): move commands to preBootstrapCommands, and settings to a NodeConfig", f.name, eks.APIVersion)
		return nil
	}
	tree, err := document.Parse([]byte(g.OverrideBootstrapCommand))
	if err != nil {
		r.Fatal(nodeconfig.Invalid, at, "cannot be read as the NodeConfig of nodeadm's that it is in %s: %v", f.name, err)
		return nil
	}
	in := eks.FromTree(tree)
	for _, p := range in.Problems {
		p.Path, p.Line, p.Column = at+strings.TrimPrefix(p.Path, "$"), 0, 0 // the place is within a text
		r.Add(p)
	}
	own, c := &r.in, in.Cluster
	of := func(name string) string { return "spec.cluster." + name + " of overrideBootstrapCommand" }
	r.known(&own.Metadata.Name, "$.metadata.name", c.Name, of("name"), sameText)
	r.known(&own.Status.Endpoint, "$.status.endpoint", c.APIServerEndpoint, of("apiServerEndpoint"), sameServer)
	r.known(&own.Status.CertificateAuthorityData, "$.status.certificateAuthorityData", c.CertificateAuthority, of("certificateAuthority"), samePEM)
	network := NetworkConfig{ServiceIPv4CIDR: c.CIDR}
	if prefix, err := netip.ParsePrefix(c.CIDR); err == nil && prefix.Addr().Is6() {
		network = NetworkConfig{ServiceIPv6CIDR: c.CIDR}
	}
	r.network(network, func(string) string { return of("cidr") })
	return in
}

// merge merges what an override sets, which goes before what the group sets.
func (r *reader) merge(override *eks.Result) {
	if override == nil {
		return
	}
	at := r.group.path("overrideBootstrapCommand")
	mine, over := r.NodeConfig, override.NodeConfig
	if len(mine.Kubelet.Taints) > 0 && len(over.Kubelet.Taints) > 0 {
		r.Warn(nodeconfig.Dropped, r.group.path("taints"), "is left out, because overrideBootstrapCommand has the flag --register-with-taints, which replaces it")
	}
	if number, other := mine.Kubelet.Config["maxPods"], over.Kubelet.Config["maxPods"]; number != nil && other != nil && fmt.Sprint(number) != fmt.Sprint(other) {
		r.Warn(nodeconfig.Dropped, r.Origin("$.kubelet.config.maxPods"), "is left out, because overrideBootstrapCommand has another value")
	}
	for to, from := range override.Origins {
		r.from(at+strings.TrimPrefix(from, "$"), to)
	}
	r.NodeConfig = nodeconfig.Merge(mine, over)
}
