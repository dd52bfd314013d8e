package eksctl

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/eks"
)

// override reads the nodeadm NodeConfig in overrideBootstrapCommand, which some families have, and uses its values of the cluster. It
// returns nil without one.
func (r *reader) override(g *NodeGroup, f *family) *eks.Result {
	at := r.group.path("overrideBootstrapCommand")
	if !f.nodeadm || g.OverrideBootstrapCommand == "" {
		return nil
	}
	if strings.HasPrefix(strings.TrimSpace(g.OverrideBootstrapCommand), "#!") {
		r.Fatal(nodeconfig.Invalid, at, "is a script, and in %s it is a NodeConfig of nodeadm's (%s): move commands to preBootstrapCommands, and settings to a NodeConfig", f.name, eks.APIVersion)
		return nil
	}
	text, _ := r.group.node.Get("overrideBootstrapCommand")
	tree, err := document.Parse([]byte(g.OverrideBootstrapCommand))
	if err != nil {
		p := nodeconfig.Unreadable(err)
		p.Path, p.Reason = at, fmt.Sprintf("cannot be read as the NodeConfig of nodeadm's that it is in %s: %s", f.name, p.Reason)
		if text.Indent == 0 && p.Line > 0 {
			p.Reason += fmt.Sprintf(" (in its line %d)", p.Line)
		}
		p.Line, p.Column = within(text, p.Line, p.Column)
		r.Add(p)
		return nil
	}
	r.placesWith(place(*tree, text))
	in := eks.FromTree(tree)
	for _, p := range in.Problems {
		p.Path, p.Line, p.Column = at+strings.TrimPrefix(p.Path, "$"), 0, 0 // they are looked for
		r.Add(p)
	}
	own, c := &r.in, in.Cluster
	of := func(name string) source { return source{name: "spec.cluster." + name + " of overrideBootstrapCommand"} }
	r.known(&own.Metadata.Name, "$.metadata.name", c.Name, of("name"), sameText)
	r.known(&own.Status.Endpoint, "$.status.endpoint", c.APIServerEndpoint, of("apiServerEndpoint"), sameServer)
	r.known(&own.Status.CertificateAuthorityData, "$.status.certificateAuthorityData", c.CertificateAuthority, of("certificateAuthority"), samePEM)
	network := NetworkConfig{ServiceIPv4CIDR: c.CIDR}
	if prefix, err := netip.ParsePrefix(c.CIDR); err == nil && prefix.Addr().Is6() {
		network = NetworkConfig{ServiceIPv6CIDR: c.CIDR}
	}
	r.network(network, func(string) source { return of("cidr") })
	return in
}

// within returns the position of a text's line and column in the document that contains the text. It is exact only for a literal
// block of YAML.
func within(text *document.Node, line, column int) (int, int) {
	if text.Indent > 0 && line > 0 {
		return int(text.Line) + line, int(text.Indent) + max(column, 1)
	}
	return int(text.Line), int(text.Column)
}

// place returns the document that is in a text, with places in the document that has the text.
func place(n document.Node, text *document.Node) document.Node {
	line, column := within(text, int(n.Line), int(n.Column))
	n.Line, n.Column = int32(line), int32(column)
	n.Items, n.Fields = slices.Clone(n.Items), slices.Clone(n.Fields)
	for i := range n.Items {
		n.Items[i] = place(n.Items[i], text)
	}
	for i := range n.Fields {
		n.Fields[i].Value = place(n.Fields[i].Value, text)
	}
	return n
}

// placesWith has values be looked for in the document that the group's override is.
func (r *reader) placesWith(override document.Node) {
	list, _ := r.tree.Get(r.group.list)
	groups := *list
	groups.Items = slices.Clone(groups.Items)
	groups.Items[r.group.index] = *withField(r.group.node, "overrideBootstrapCommand", override)
	r.Places = withField(r.tree, r.group.list, groups)
}

// merge merges the override's settings over the group's.
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

// taints takes out what a flag replaces in the kubelet's configuration (Kubernetes: cmd/kubelet/app/options/options.go).
func (r *reader) taints() {
	k := &r.NodeConfig.Kubelet
	if _, configured := k.Config["registerWithTaints"]; configured && len(k.Taints) > 0 {
		k.Config = maps.Clone(k.Config)
		delete(k.Config, "registerWithTaints")
		r.Warn(nodeconfig.Dropped, r.Origin("$.kubelet.config.registerWithTaints"), "is left out, because %s is a flag of the kubelet's, which replaces it", strings.TrimPrefix(r.Origin("$.kubelet.taints"), "$."))
	}
}
