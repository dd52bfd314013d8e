// Package eksctl reads eksctl's ClusterConfig, and translates one node of one of its node groups to a NodeConfig.
//
// A ClusterConfig describes a cluster and all its machines. The package reads the fields that a node depends on. A table lists every
// other field: either it does not concern the node, or it is not applied, which is a warning. An unknown field is a warning, and
// a value of the wrong type affects only its own field. The package does no I/O, calls no cloud, never changes its input, and leaves
// defaults and validation of the result to nodeconfig. nodeconfig/dialect calls it.
package eksctl

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/nodeconfig"
)

const (
	// APIVersion is the version of the ClusterConfig that is read, Group what the versions begin with.
	APIVersion = Group + "v1alpha5"
	Group      = "eksctl.io/"
	// Kind is the document's.
	Kind = "ClusterConfig"
)

// The lists of node groups.
const (
	selfManaged = "nodeGroups"
	managed     = "managedNodeGroups"
)

// Choice is the input beside the document.
type Choice struct {
	// NodeGroup names the group of the node; a document with one group needs none.
	NodeGroup string
	// Cluster is the output of "aws eks describe-cluster", or nil, and ClusterName is its file's name.
	Cluster     []byte
	ClusterName string
}

// Result is a node of a ClusterConfig in NodeConfig's terms.
type Result struct {
	// NodeConfig is the node that the document describes, without defaults; never nil.
	NodeConfig *nodeconfig.NodeConfig
	// Problems are those of reading and translating, with paths in the document's terms.
	Problems []nodeconfig.Problem
	// Document is the same document with only the node's group, and with Choice filled in. Reading it gives the same node.
	Document *document.Node
	// Places is the document with the lines of all values, also of those in a text that is a document itself.
	Places *document.Node

	origins map[string]string
	// elsewhere are paths of the cluster's description, by those of the document whose values it has.
	elsewhere map[string]string
	cluster   string
}

// Elsewhere returns the name of the cluster's description, and the path in it, if it has the value of a path of the document.
func (r *Result) Elsewhere(path string) (name, at string, ok bool) {
	at, ok = r.elsewhere[path]
	return r.cluster, at, ok
}

// Origin returns the path in the document that a path of the NodeConfig came from, or the path itself if it came from no other.
func (r *Result) Origin(path string) string {
	return document.Moved(path, func(path string) (from string, ok bool) {
		from, ok = r.origins[path]
		return from, ok
	})
}

// Lacks reports whether a ClusterConfig has no field for a setting of the NodeConfig.
func (r *Result) Lacks(path string) bool {
	return slices.Contains(lacking, path) || r.Origin(path) == path
}

// Origins returns the document's paths to report if no concern reads a path of the NodeConfig.
func (r *Result) Origins(path string) []string {
	if document.Within(path, "$.cloud") { // the node joins with the region
		return nil
	}
	return []string{r.Origin(path)}
}

// FromTree reads a document, and translates a node of the chosen group.
func FromTree(tree *document.Node, choice Choice) *Result {
	r := &reader{Result: &Result{NodeConfig: new(nodeconfig.NodeConfig), Document: tree, Places: tree, origins: make(map[string]string), elsewhere: make(map[string]string), cluster: choice.clusterName()}, choice: choice, tree: tree}
	g, ok := r.choose(tree)
	r.group = g
	document.Decode(narrow(tree, r.withTaints(g)), &r.in, document.Options{Names: document.JSONNames, Report: r.fault})
	r.translate(r.readCluster())
	if ok {
		r.Result.Document = r.complete(narrow(tree, g))
		for _, path := range lacking {
			r.from(r.group.path(), path)
		}
	}
	r.Problems = r.List
	return r.Result
}

// reader is one run of FromTree.
type reader struct {
	*Result
	problem.Collector
	choice Choice
	in     ClusterConfig
	tree   *document.Node
	// group is the chosen group; empty if none is chosen.
	group group
	// described is the path of the cluster in its description.
	described string
}

// group is a node group and its place in the document.
type group struct {
	list  string
	index int
	node  *document.Node
}

// path is the group's place, or that of a field of it.
func (g group) path(fields ...string) string {
	return strings.Join(append([]string{document.IndexPath("$."+g.list, g.index)}, fields...), ".")
}

func (g group) name() string { return g.node.GetText("name") }

// groups are all node groups of a document.
func groups(tree *document.Node) (all []group) {
	for _, name := range []string{selfManaged, managed} {
		list, _ := tree.Get(name)
		for i := range items(list) {
			if list.Items[i].Kind == document.Map {
				all = append(all, group{name, i, &list.Items[i]})
			}
		}
	}
	return all
}

func items(n *document.Node) []document.Node {
	if n == nil || n.Kind != document.List {
		return nil
	}
	return n.Items
}

// choose finds the node's group.
func (r *reader) choose(tree *document.Node) (chosen group, ok bool) {
	all := groups(tree)
	var names []string
	var found []group
	first := make(map[string]group)
	for _, g := range all {
		name := g.name()
		if before, twice := first[name]; twice && name != "" {
			r.Fatal(nodeconfig.Invalid, g.path("name"), "is the name of %s, too; %s", before.path(), listed(names))
		}
		first[name] = g
		if isShown(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
		if r.choice.NodeGroup == "" || name == r.choice.NodeGroup {
			found = append(found, g)
		}
	}
	slices.Sort(names)
	at := "$." + selfManaged
	switch {
	case len(all) == 0:
		r.Fatal(nodeconfig.Missing, at, "is missing a group, and so is %s: give the one that the node is of", managed)
	case len(found) == 0:
		r.Fatal(nodeconfig.Invalid, at, "has no group of the name that was given, and neither has %s; %s", managed, listed(names))
	case len(found) > 1 && r.choice.NodeGroup == "":
		r.Fatal(nodeconfig.Invalid, at, "has several groups, together with %s: name that of the node with --node-group; %s", managed, listed(names))
	default:
		return found[0], true
	}
	return group{}, false
}

// isShown reports whether a name is a possible name of a group, and so may be shown.
func isShown(name string) bool {
	return name != "" && len(name) <= 100 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// listed returns the names of the existing groups.
func listed(names []string) string {
	if len(names) == 0 {
		return "no group has a name"
	}
	return "there are " + strings.Join(names, ", ")
}

// narrow returns the document with one of its groups, or with none.
func narrow(tree *document.Node, g group) *document.Node {
	own := *tree
	own.Fields = nil
	for _, f := range tree.Fields {
		switch {
		case g.node != nil && f.Name == g.list:
			f.Value.Items = []document.Node{*g.node}
		case f.Name == selfManaged || f.Name == managed:
			if f.Value.Kind == document.List || f.Value.Kind == document.Null {
				continue
			}
		}
		own.Fields = append(own.Fields, f)
	}
	return &own
}

// fault takes a fault of the decoder, which knows one group, as one of the document.
func (r *reader) fault(f document.Fault) {
	name := strings.TrimPrefix(f.Path, "$.")
	if only := document.IndexPath("$."+r.group.list, 0); r.group.node != nil && document.Within(f.Path, only) {
		rest := f.Path[len(only):]
		name, f.Path = anyGroup+strings.TrimPrefix(rest, "."), r.group.path()+rest
	}
	if f.Kind == document.Unknown {
		if other, ok := otherField(name); ok {
			if other.kind != "" {
				r.Add(nodeconfig.Problem{
					Kind: other.kind, Path: f.Path, Reason: other.why, Fatal: other.needed, Line: int(f.Line), Column: int(f.Column),
				})
			}
			return
		}
	}
	r.Add(nodeconfig.ProblemOf(f, !slices.Contains(lesser, name)))
}

// lacking are settings for which a ClusterConfig has no field, although the planner may need one. What it reports of them is reported of
// the group.
var lacking = []string{"$.cloud.provider", "$.join.exec", "$.kubelet.nodeIPs", "$.kubelet.nodeName"}

// lesser are the fields of which a value of the wrong type is a warning: a node is made without them, and no other.
var lesser = []string{"metadata.version", anyGroup + "efaEnabled", anyGroup + "spot", anyGroup + "ssh", anyGroup + "ssh.enableSsm"}
