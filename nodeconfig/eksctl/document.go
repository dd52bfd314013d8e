package eksctl

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// complete returns a document with the cluster's values from other sources filled in.
func (r *reader) complete(own *document.Node) *document.Node {
	in := &r.in
	for _, part := range []struct{ above, name, value string }{
		{"metadata", "name", in.Metadata.Name},
		{"metadata", "version", in.Metadata.Version},
		{"status", "endpoint", in.Status.Endpoint},
		{"status", "certificateAuthorityData", in.Status.CertificateAuthorityData},
		{"status", "arn", in.Status.ARN},
		{"kubernetesNetworkConfig", "ipFamily", in.KubernetesNetworkConfig.IPFamily},
		{"kubernetesNetworkConfig", "serviceIPv4CIDR", in.KubernetesNetworkConfig.ServiceIPv4CIDR},
		{"kubernetesNetworkConfig", "serviceIPv6CIDR", in.KubernetesNetworkConfig.ServiceIPv6CIDR},
	} {
		if part.value == "" {
			continue
		}
		above, _ := own.Get(part.above)
		own = withField(own, part.above, *withField(above, part.name, document.Node{Kind: document.String, Text: part.value}))
	}
	return own
}

// withField returns a copy of a map, or of none, with a field.
func withField(n *document.Node, name string, value document.Node) *document.Node {
	copied := document.Node{Kind: document.Map}
	if n != nil && n.Kind == document.Map {
		copied = *n
	}
	copied.Fields = slices.Clone(copied.Fields)
	if i := slices.IndexFunc(copied.Fields, func(f document.Field) bool { return f.Name == name }); i >= 0 {
		copied.Fields[i].Value = value
	} else {
		copied.Fields = append(copied.Fields, document.Field{Name: name, Value: value})
	}
	return &copied
}

// withTaints returns a group whose taints are a list. In the other form they are sorted by their keys, since a map has no order.
func (r *reader) withTaints(g group) group {
	if g.node == nil {
		return g
	}
	taints, ok := g.node.Get("taints")
	if !ok || taints.Kind != document.Map {
		return g
	}
	list := document.Node{Kind: document.List, Line: taints.Line, Column: taints.Column}
	for _, key := range document.FieldNames(taints) {
		value, _ := taints.Get(key)
		at := document.FieldPath(g.path("taints"), key)
		if value.Kind != document.String {
			r.Fatal(nodeconfig.WrongType, at, "is %s, want a string: VALUE:EFFECT", value.Kind)
			continue
		}
		text, effect, _ := strings.Cut(value.Text, ":")
		r.from(at, document.IndexPath("$.kubelet.taints", len(list.Items)))
		list.Items = append(list.Items, *textMap(value, "key", key, "value", text, "effect", effect))
	}
	g.node = withField(g.node, "taints", list)
	return g
}

// textMap returns a map of texts, at the position of a node.
func textMap(place *document.Node, pairs ...string) *document.Node {
	n := document.Node{Kind: document.Map, Line: place.Line, Column: place.Column}
	for i := 0; i < len(pairs); i += 2 {
		n.Fields = append(n.Fields, document.Field{Name: pairs[i], Value: document.Node{Kind: document.String, Text: pairs[i+1], Line: place.Line, Column: place.Column}})
	}
	return &n
}
