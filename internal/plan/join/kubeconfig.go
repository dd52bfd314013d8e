package join

import (
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/textfile"
)

// entries are the names within a kubeconfig, and the namespace of its context, if any.
type entries struct{ cluster, context, user, namespace string }

// kubeconfigFile is client-go's configuration, as much of it as a kubelet needs.
func kubeconfigFile(in *concern.Input, names entries, credential document.Node) []byte {
	context := fieldsOf("cluster", names.cluster)
	if names.namespace != "" {
		add(&context, "namespace", textOf(names.namespace))
	}
	add(&context, "user", textOf(names.user))
	config := fieldsOf("apiVersion", "v1", "kind", "Config")
	for _, part := range []struct {
		list, entry, name string
		value             document.Node
	}{
		{"clusters", "cluster", names.cluster, fieldsOf("certificate-authority", in.Family.Paths.CA, "server", in.Config.Cluster.Server)},
		{"users", "user", names.user, credential},
		{"contexts", "context", names.context, context},
	} {
		named := fieldsOf("name", part.name)
		add(&named, part.entry, part.value)
		add(&config, part.list, document.Node{Kind: document.List, Items: []document.Node{named}})
	}
	add(&config, "current-context", textOf(names.context))
	return textfile.YAML(config)
}

func textOf(s string) document.Node { return document.Node{Kind: document.String, Text: s} }

// fieldsOf is a map of names and texts, in pairs.
func fieldsOf(pairs ...string) (n document.Node) {
	for i := 0; i < len(pairs); i += 2 {
		add(&n, pairs[i], textOf(pairs[i+1]))
	}
	return n
}

// add adds a field to a map.
//
//go:noinline
func add(n *document.Node, name string, value document.Node) {
	n.Kind, n.Fields = document.Map, append(n.Fields, document.Field{Name: name, Value: value})
}
