// Package kubeadm reads the inputs that join a node to a kubeadm cluster, and translates them to a NodeConfig: the command line
// "kubeadm join", a JoinConfiguration, and a kubeconfig.
//
// A command line is read as the JoinConfiguration that kubeadm makes of it. Nothing in it is executed or expanded. The Kubernetes
// version is that of the installed kubelet, because none of the three inputs names one. Settings that Slipway does not support are
// errors, if the node would differ or be less safe without them; otherwise they are warnings. The package refuses a document that
// would join a control plane, or a cluster that neither a CA nor a token verifies. It does no I/O, and leaves defaults and
// validation of the result to nodeconfig. nodeconfig/dialect calls it.
package kubeadm

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The kinds of documents.
const (
	joinKind   = "JoinConfiguration"
	configKind = "Config"
)

// apiGroup is the prefix of a JoinConfiguration's apiVersion.
const apiGroup = "kubeadm.k8s.io/"

// apiVersions are the supported versions of a JoinConfiguration. A command line is read as the first one.
var apiVersions = []string{apiGroup + "v1beta4", apiGroup + "v1beta3"}

// Is reports whether a document is kubeadm's, or a kubeconfig.
func Is(tree *document.Node) bool {
	version, kind := tree.GetText("apiVersion"), tree.GetText("kind")
	return strings.HasPrefix(version, apiGroup) || version == "v1" && kind == configKind
}

// Result is a document in NodeConfig's terms.
type Result struct {
	// NodeConfig has the document's values, without defaults. It is never nil.
	NodeConfig *nodeconfig.NodeConfig
	// Problems are those of reading and translating, with paths in the document's terms.
	Problems []nodeconfig.Problem

	// origins are the paths from which the NodeConfig's values come.
	origins map[string]string
}

// Origin returns the path in the document from which a path of the NodeConfig comes. Without one, it returns path itself.
func (r *Result) Origin(path string) string {
	return document.Moved(path, func(path string) (from string, ok bool) {
		from, ok = r.origins[path]
		return from, ok
	})
}

// translation is one run of FromTree.
type translation struct {
	tree *document.Node
	in   Document
	out  *nodeconfig.NodeConfig
	// known are fields without a field in a NodeConfig that need no report, or have one already.
	known map[string]bool
	*Result
	problem.Collector
}

func (t *translation) moved(to, from string) { t.origins[to] = from }

// FromTree reads a JoinConfiguration or a kubeconfig and translates it.
func FromTree(tree *document.Node) *Result {
	r := &Result{NodeConfig: new(nodeconfig.NodeConfig), origins: make(map[string]string)}
	t := &translation{tree: tree, out: r.NodeConfig, known: make(map[string]bool), Result: r}
	var faults []nodeconfig.Problem
	document.Decode(tree, &t.in, document.Options{
		Names:  document.JSONNames,
		Report: func(f document.Fault) { faults = append(faults, nodeconfig.ProblemOf(f, true)) },
	})
	t.out.APIVersion, t.out.Kind = nodeconfig.APIVersion, nodeconfig.Kind
	t.out.Cluster.KubernetesVersion, t.out.Cluster.Kubeadm = nodeconfig.InstalledVersion, true
	if t.in.Kind == configKind {
		t.kubeconfig()
	} else {
		t.join()
	}
	faults = slices.DeleteFunc(faults, func(p nodeconfig.Problem) bool { return p.Kind == nodeconfig.Unknown && t.known[p.Path] })
	r.Problems = append(faults, t.List...) // unreadable values come first, because they may be the reason for missing ones
	return r
}

// row is the consequence of a field that has no field in a NodeConfig.
type row struct {
	field string
	// fatal is true if the node would differ, or be less safe, without it.
	fatal bool
	// unless is a value that states the default.
	unless string
	reason string
}

// withoutPlace reports the fields of a table that are set in a map, which is at a path.
func (t *translation) withoutPlace(rows []row, n *document.Node, at string) {
	for _, r := range rows {
		value, path := n, at
		for step := range strings.SplitSeq(r.field, ".") {
			value, _ = value.Get(step)
			path = document.FieldPath(path, step)
		}
		t.known[path] = true
		switch {
		case isEmpty(value), r.unless == "" && value.Kind == document.Bool && value.Text == "false", r.unless != "" && value.Text == r.unless:
		case r.fatal:
			t.Report(true, nodeconfig.Invalid, path, r.reason)
		default:
			t.Report(false, nodeconfig.NoEffect, path, r.reason)
		}
	}
}

// isEmpty reports whether a value is missing or has no content.
func isEmpty(n *document.Node) bool {
	if n == nil {
		return true
	}
	switch n.Kind {
	case document.Null:
		return true
	case document.Map:
		return !slices.ContainsFunc(n.Fields, func(f document.Field) bool { return !isEmpty(&f.Value) })
	case document.List, document.String:
		return len(n.Items) == 0 && n.Text == ""
	}
	return false
}
