// Package eks reads the NodeConfig of EKS's nodeadm (node.eks.aws/v1alpha1), and translates it to Slipway's own.
//
// An unknown field is a warning, and a value of the wrong type spoils its own field only. The package does no I/O, asks no cloud, never
// changes its input, and leaves defaults and validation of the result to nodeconfig. nodeconfig/eksctl calls it for what its authors
// write as overrideBootstrapCommand.
package eks

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/nodeconfig"
)

const (
	// APIVersion is the version of the NodeConfig that is read.
	APIVersion = "node.eks.aws/v1alpha1"
	// Kind is the document's.
	Kind = "NodeConfig"
)

// Result is a NodeConfig of nodeadm's in Slipway's terms.
type Result struct {
	// NodeConfig is the node that the document describes, except the cluster, without defaults; never nil.
	NodeConfig *nodeconfig.NodeConfig
	// Cluster is the cluster that it names.
	Cluster Cluster
	// Problems are those of reading and translating, with paths in the document's terms.
	Problems []nodeconfig.Problem
	// Origins are paths of the document by those of the NodeConfig that come from them.
	Origins map[string]string
}

// FromTree reads a document.
func FromTree(tree *document.Node) *Result {
	r := &reader{Result: &Result{NodeConfig: new(nodeconfig.NodeConfig), Origins: make(map[string]string)}}
	document.Decode(tree, &r.in, document.Options{Names: document.JSONNames, Report: r.fault})
	if r.in.APIVersion != APIVersion {
		r.Fatal(nodeconfig.Invalid, "$.apiVersion", "want %q", APIVersion)
	}
	if r.in.Kind != Kind {
		r.Fatal(nodeconfig.Invalid, "$.kind", "want %q", Kind)
	}
	r.Cluster = r.in.Spec.Cluster
	if outpost := r.Cluster.EnableOutpost; outpost != nil && *outpost {
		r.Fatal(nodeconfig.NotApplied, "$.spec.cluster.enableOutpost", "is not applied by this version: the node of a cluster on an outpost joins by the cluster's identifier")
	}
	r.kubelet()
	r.machine()
	r.gates()
	r.Problems = r.List
	return r.Result
}

// reader is one run of FromTree.
type reader struct {
	*Result
	problem.Collector
	in NodeConfig
}

// others are the known fields that are not read.
var others = []struct {
	path, why string
	fatal     bool
}{
	{"$.spec.hybrid", "is for EKS's hybrid nodes, which are not machines of EC2, and this version makes none", true},
	{"$.spec.cluster.region", "is for EKS's hybrid nodes, and the node has the region of its cluster", false},
}

func (r *reader) fault(f document.Fault) {
	if f.Kind != document.Unknown {
		r.Add(nodeconfig.ProblemOf(f, true))
		return
	}
	if f.Path == "$.metadata" || f.Path == "$.status" { // of the API server, which nodeadm does not read either
		return
	}
	for _, other := range others {
		if f.Path == other.path {
			r.Report(other.fatal, nodeconfig.NotApplied, f.Path, other.why)
			return
		}
	}
	r.Add(nodeconfig.ProblemOf(f, false))
}

func (r *reader) from(path string, to ...string) {
	for _, place := range to {
		r.Origins[place] = path
	}
}

// kubelet translates the kubelet's configuration and flags.
func (r *reader) kubelet() {
	const config = "$.spec.kubelet.config"
	in, out := &r.in.Spec.Kubelet, &r.NodeConfig.Kubelet
	for name, value := range in.Config {
		if name == "apiVersion" || name == "kind" {
			continue
		}
		if out.Config == nil {
			out.Config = make(map[string]any)
		}
		out.Config[name] = value
		r.leaf(document.FieldPath(config, name), document.FieldPath("$.kubelet.config", name), value)
	}
	out.MaxPodsExpression = in.MaxPodsExpression
	r.from("$.spec.kubelet.maxPodsExpression", "$.kubelet.maxPodsExpression")
	r.flags(in.Flags)
}

// leaf records the origin of each value of a setting.
func (r *reader) leaf(from, to string, value any) {
	fields, ok := value.(map[string]any)
	if !ok || len(fields) == 0 {
		r.from(from, to)
		return
	}
	for name, value := range fields {
		r.leaf(document.FieldPath(from, name), document.FieldPath(to, name), value)
	}
}

// flags translates the entries of a list of flags. nodeadm joins the entries with spaces, and systemd splits them into words: an entry can
// be several words, a word can have quotes, and a flag's value can be the next word (systemd.service(5), Command lines).
func (r *reader) flags(entries []string) {
	var words, places []string
	for i, entry := range entries {
		at := document.IndexPath("$.spec.kubelet.flags", i)
		own, ok := splitWords(entry)
		if !ok {
			r.Fatal(nodeconfig.Invalid, at, "has a quote without an end")
		}
		for _, word := range own {
			words, places = append(words, word), append(places, at)
		}
	}
	for i := 0; i < len(words); i++ {
		at := places[i]
		name, value, has := strings.Cut(words[i], "=")
		bare := strings.TrimLeft(name, "-")
		if bare == name || bare == "" {
			r.Fatal(nodeconfig.Invalid, at, "is not a flag of the kubelet's; want --NAME=VALUE")
			continue
		}
		if !has {
			value = "true" // pflag: NoOptDefVal of a boolean
			if i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
				i++
				value = words[i]
			}
		}
		r.flag(at, nodeconfig.Flag{Name: bare, Value: value})
	}
}

// flag translates a flag. Labels and taints are the contract's own, as with the kubelet: of a label that is given twice the last value
// counts, and of two lists of taints the last one (k8s.io/component-base/cli/flag, MapStringString; k8s.io/kubernetes
// pkg/util/taints, taintsVar).
func (r *reader) flag(at string, flag nodeconfig.Flag) {
	out := &r.NodeConfig.Kubelet
	switch flag.Name {
	case "node-labels":
		for label := range strings.SplitSeq(flag.Value, ",") {
			if key, value, _ := strings.Cut(strings.TrimSpace(label), "="); key != "" {
				if out.Labels == nil {
					out.Labels = make(map[string]string)
				}
				out.Labels[key] = value
				r.from(at, document.FieldPath("$.kubelet.labels", key))
			}
		}
	case "register-with-taints":
		out.Taints = nil
		r.from(at, "$.kubelet.taints")
		for taint := range strings.SplitSeq(flag.Value, ",") {
			if taint == "" {
				continue
			}
			key, effect, _ := strings.Cut(strings.TrimSpace(taint), ":")
			key, value, _ := strings.Cut(key, "=")
			r.from(at, document.IndexPath("$.kubelet.taints", len(out.Taints)))
			out.Taints = append(out.Taints, nodeconfig.Taint{Key: key, Value: value, Effect: effect})
		}
	default:
		r.from(at, document.IndexPath("$.kubelet.flags", len(out.Flags)))
		out.Flags = append(out.Flags, flag)
	}
}

// machine translates the settings apart from the kubelet's.
func (r *reader) machine() {
	in, out := &r.in.Spec, r.NodeConfig
	if in.Containerd.Config != "" {
		out.Runtime.Containerd.Config = nodeconfig.NewSecret(in.Containerd.Config)
	}
	out.Runtime.Containerd.BaseRuntimeSpec = in.Containerd.BaseRuntimeSpec
	r.from("$.spec.containerd", "$.runtime.containerd")
	for service, variables := range in.Instance.Environment {
		own := make(map[string]nodeconfig.Secret, len(variables))
		for name, value := range variables {
			own[name] = nodeconfig.NewSecret(value)
		}
		if out.System.Environment == nil {
			out.System.Environment = make(map[string]map[string]nodeconfig.Secret)
		}
		out.System.Environment[service] = own
	}
	r.from("$.spec.instance.environment", "$.system.environment")
	if disks := in.Instance.LocalStorage; disks != nil {
		out.System.LocalStorage = (*nodeconfig.LocalStorage)(disks)
	}
	r.from("$.spec.instance.localStorage", "$.system.localStorage")
	out.Network.Nameservers, out.Network.SearchDomains = in.Instance.Network.Nameservers, in.Instance.Network.Domains
	r.from("$.spec.instance.network.nameservers", "$.network.nameservers")
	r.from("$.spec.instance.network.domains", "$.network.searchDomains")
}

// gates translates nodeadm's feature gates.
func (r *reader) gates() {
	for _, name := range slices.Sorted(maps.Keys(r.in.Spec.FeatureGates)) {
		at := document.FieldPath("$.spec.featureGates", name)
		switch on := r.in.Spec.FeatureGates[name]; {
		case name == "FastImagePull" && on:
			r.NodeConfig.Runtime.LazyPull = "soci"
			r.from(at, "$.runtime.lazyPull")
		case name == "InstanceIdNodeName" && on:
			r.Fatal(nodeconfig.NotApplied, at, "is not applied by this version: the node has EC2's private DNS name, and a cluster that maps the role to another name refuses it")
		case name != "FastImagePull" && name != "InstanceIdNodeName":
			r.Warn(nodeconfig.Unknown, at, "is an unknown feature gate; want FastImagePull or InstanceIdNodeName")
		}
	}
}

// splitWords splits a text at spaces that are not in quotes, and removes the quotes. It reports false for a quote that has no end.
func splitWords(text string) (words []string, ok bool) {
	var word strings.Builder
	var quote rune
	within := false
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '"' || c == '\'':
			quote, within = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if within {
				words = append(words, word.String())
			}
			word.Reset()
			within = false
		default:
			word.WriteRune(c)
			within = true
		}
	}
	if within {
		words = append(words, word.String())
	}
	return words, quote == 0
}
