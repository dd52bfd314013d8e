package kubelet

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/kubeletapi"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/nodeconfig"
)

const (
	kubeletConfAt = "$.kubelet.config"
)

// defaultsRow is a field of a cluster's kubelet-config that the node does not take. All other fields affect only the kubelet's
// configuration file: no other concern reads them, so a plan with them differs only in that file.
type defaultsRow struct {
	// field has dots between names.
	field string
	// unless reports whether the node has the value anyway, so that no warning is needed. If nil, the value does not matter.
	unless func(in *concern.Input, value any) bool
	why    string
}

// Why a field is not taken.
const (
	madeElsewhere = "is not where Slipway has it"
	namesCgroup   = "names cgroups, which Slipway makes for a contract's own kubelet.config only"
	namesFile     = "names a file that Slipway does not bring; set it in kubelet.config"
	mayBeSecret   = "may hold a credential, and the facts about a machine are no secret; set it in kubelet.config"
	askedByAgent  = "is where Slipway asks the kubelet whether it is well; set it in kubelet.config"
)

// defaultsRows are those fields. The resolver, the sockets and the driver are the machine's own (k8s.io/kubernetes v1.36.3 staging/src/k8s.io/kubelet/config/v1beta1/types.go).
// What kubeadm itself decides on each machine is in cmd/kubeadm/app/componentconfigs/kubelet.go, Mutate, and in
// cmd/kubeadm/app/phases/kubelet/config.go, WriteInstanceConfigToDisk.
var defaultsRows = []defaultsRow{
	{"apiVersion", anything, ""},
	{"kind", anything, ""},
	{"resolvConf", anything, ""},
	{"containerRuntimeEndpoint", anything, ""},
	{"imageServiceEndpoint", anything, ""},
	{"authentication.x509.clientCAFile", func(in *concern.Input, v any) bool { return v == in.Family.Paths.CA }, madeElsewhere},
	{"staticPodPath", func(in *concern.Input, v any) bool { return v == in.Family.Paths.Manifests }, madeElsewhere},
	{"cgroupDriver", func(in *concern.Input, v any) bool { return v == in.Driver }, "is not the container runtime's driver"},
	{"healthzPort", oneOf("10248"), askedByAgent},
	{"healthzBindAddress", oneOf("127.0.0.1"), askedByAgent},
	{"rotateCertificates", oneOf("true"), "would have the node leave the cluster when its certificate expires; set it in kubelet.config"},
	{"enforceNodeAllocatable", oneOf("[pods]"), namesCgroup},
	{"kubeReservedCgroup", nil, namesCgroup},
	{"systemReservedCgroup", nil, namesCgroup},
	{"cgroupRoot", oneOf("/"), namesCgroup},
	{"kubeletCgroups", nil, namesCgroup},
	{"systemCgroups", nil, namesCgroup},
	{"tlsCertFile", nil, namesFile},
	{"tlsPrivateKeyFile", nil, namesFile},
	{"providerID", nil, "is of one machine"},
	{"staticPodURL", nil, mayBeSecret},
	{"staticPodURLHeader", nil, mayBeSecret},
	{idleTimeoutField, func(in *concern.Input, _ any) bool { return in.Reached(concern.IdleTimeoutIgnored) }, ""},
}

func anything(*concern.Input, any) bool { return true }

func oneOf(values ...string) func(*concern.Input, any) bool {
	return func(_ *concern.Input, value any) bool { return slices.Contains(values, fmt.Sprint(value)) }
}

// changes reports whether a value of the field changes the node. An empty one is the kubelet's default.
func (row *defaultsRow) changes(in *concern.Input, value any) bool {
	switch fmt.Sprint(value) {
	case "", "<nil>", "[]", "map[]":
		return false
	}
	return row.unless == nil || !row.unless(in, value)
}

// ReadDefaults reads a KubeletConfiguration that the cluster of a config has for all its nodes. What is left out here may be
// secret. An error is the reason why it cannot be used.
func ReadDefaults(c *nodeconfig.NodeConfig, text []byte) (facts.KubeletDefaults, error) {
	none := facts.KubeletDefaults{}
	tree, err := document.Parse(text)
	switch {
	case err != nil:
		return none, fmt.Errorf("the cluster's kubelet-config cannot be read: %w", err)
	case tree.Kind != document.Map:
		return none, fmt.Errorf("the cluster's kubelet-config is %s, want a %s", tree.Kind, nodeconfig.KubeletConfigKind)
	case tree.GetText("apiVersion") != nodeconfig.KubeletConfigVersion || tree.GetText("kind") != nodeconfig.KubeletConfigKind:
		return none, fmt.Errorf("the cluster's kubelet-config is not a %s of %s", nodeconfig.KubeletConfigKind, nodeconfig.KubeletConfigVersion)
	}
	kept := *tree
	kept.Fields = nil
	for _, f := range tree.Fields {
		if nodeconfig.IsSecretPlace(document.FieldPath(kubeletConfAt, f.Name)) {
			f.Value = document.Node{Kind: document.String, Text: nodeconfig.Redacted}
		}
		kept.Fields = append(kept.Fields, f)
	}
	return facts.KubeletDefaults{Cluster: concern.ClusterName(c), Config: kept.AppendJSON(nil)}, nil
}

// NoDefaults is that the cluster of a config has not answered, and why.
func NoDefaults(c *nodeconfig.NodeConfig, why error) facts.KubeletDefaults {
	return facts.KubeletDefaults{Cluster: concern.ClusterName(c), Unanswered: why.Error()}
}

// clusterDefaults are the fields that the node takes from its cluster. No problem with them is fatal: a field that the kubelet
// would refuse is left out.
func clusterDefaults(in *concern.Input, out *concern.Output) map[string]any {
	if in.Defaults == nil || len(in.Defaults.Config) == 0 {
		return nil
	}
	tree, err := document.Parse(in.Defaults.Config)
	if err != nil || tree.Kind != document.Map {
		out.Warn(nodeconfig.Invalid, setting.Kubeadm, "has no effect: what is recorded of the cluster's kubelet-config cannot be read")
		return nil
	}
	config := tree.Any().(map[string]any)
	leave := func(field, why string) {
		out.Warn(nodeconfig.Dropped, setting.Kubeadm, "takes the cluster's kubelet-config without %s: %s", field, why)
	}
	for i := range defaultsRows {
		row := &defaultsRows[i]
		if value, had := take(config, strings.Split(row.field, ".")); had && row.changes(in, value) {
			leave(row.field, row.why)
		}
	}
	// Together with the contract's fields, because the kubelet refuses some fields only beside others.
	own, _ := nodeconfig.Revealed(in.Config.Kubelet.Config)
	settings := kubeletSettings(in, kubeletsetting.Merge(config, own))
	settings.Minor, settings.At = min(in.Minor, kubeletapi.NewestSupported), "$"
	for _, p := range kubeletapi.Check(settings) {
		if field := topField(config, p.Path); field != "" && (p.Fatal || own[field] == nil) {
			leave(strings.TrimPrefix(p.Path, "$."), p.Reason)
			dropAt(config, "$", p.Path)
		}
	}
	return config
}

// WithDefaults puts into a config as its author has written it what the node takes from a KubeletConfiguration of its cluster, and
// reports what it does not take. complete is the same config with its defaults. An error is the reason why nothing can be taken.
func WithDefaults(written, complete *nodeconfig.NodeConfig, text []byte) ([]nodeconfig.Problem, error) {
	answer, err := ReadDefaults(complete, text)
	if err != nil {
		return nil, err
	}
	in, out := concern.NewInput(complete, facts.Facts{KubeletDefaults: &answer}), &concern.Output{}
	if !in.TakesDefaults() {
		return nil, errors.New("it is for a contract of kubeadm's, or a native one with cluster.kubeadm, of the layout standard")
	}
	taken := clusterDefaults(in, out)
	for name := range contractSettings(in) {
		delete(taken, name)
	}
	written.Kubelet.Config = kubeletsetting.Merge(taken, written.Kubelet.Config)
	return out.List, nil
}

// take removes the field at the end of names from nested maps, and returns it. A map that is empty then goes, too.
func take(config map[string]any, names []string) (value any, had bool) {
	value, had = config[names[0]]
	if !had || len(names) == 1 {
		delete(config, names[0])
		return value, had
	}
	below, isMap := value.(map[string]any)
	if !isMap {
		return nil, false
	}
	value, had = take(below, names[1:])
	if len(below) == 0 {
		delete(config, names[0])
	}
	return value, had
}

// topField is the field of a configuration that a path below "$" is in, "" if it has none.
func topField(config map[string]any, at string) string {
	for name := range config {
		if document.Within(at, document.FieldPath("$", name)) {
			return name
		}
	}
	return ""
}

// dropAt removes from nested maps what is at a path: the innermost field of a map that has it.
func dropAt(config map[string]any, here, at string) {
	for _, name := range slices.Sorted(maps.Keys(config)) {
		path := document.FieldPath(here, name)
		if !document.Within(at, path) {
			continue
		}
		if below, isMap := config[name].(map[string]any); isMap && path != at {
			dropAt(below, path, at)
		} else {
			delete(config, name)
		}
	}
}

// checkClusterDNS reports a node whose pods get no address of the cluster's DNS service.
func checkClusterDNS(in *concern.Input, out *concern.Output, config map[string]any) {
	k, cluster := in.Config.Kubelet, in.Config.Cluster
	if len(cluster.ServiceCIDRs) > 0 && len(cluster.DNSServiceIPs) == 0 || // the validation reports ranges without a tenth address
		kubeletsetting.Value(k, "cluster-dns", "clusterDNS", "") != "" || kubeletsetting.Field(nodeconfig.Kubelet{Config: config}, "clusterDNS") != nil {
		return
	}
	const follows = "the pods of this node resolve names with the machine's own DNS servers, and no name of a service"
	at, instead := "$.cluster.dnsServiceIPs", "give the address of the cluster's DNS service, or the range cluster.serviceCIDRs that it is in"
	if !in.Family.Kubelet.ConfigDefaults {
		at, instead = kubeletConfAt+".clusterDNS", "give the address of the cluster's DNS service"
	}
	switch known := in.Defaults; {
	case in.LacksDefaults && known == nil && !in.Agentless:
		// The agent asks the cluster, and plans again with its answer.
	case known != nil && known.Unanswered != "":
		out.Warn(nodeconfig.Missing, at, "is missing, and the cluster's kubelet-config is not known, because %s: %s; %s", known.Unanswered, follows, instead)
	case in.LacksDefaults:
		out.Warn(nodeconfig.Missing, at, "is missing, and without an agent no program asks for the cluster's kubelet-config: %s; %s, or convert the contract with --kubelet-config", follows, instead)
	default:
		out.Warn(nodeconfig.Missing, at, "is missing: %s; %s", follows, instead)
	}
}

// contractSettings are the contract's own settings of the cluster's DNS.
func contractSettings(in *concern.Input) map[string]any {
	cluster, config := in.Config.Cluster, make(map[string]any)
	if ips := cluster.DNSServiceIPs; len(ips) > 0 {
		dns := make([]any, len(ips))
		for i, ip := range ips {
			dns[i] = ip
		}
		config["clusterDNS"] = dns
	}
	if cluster.DNSDomain != nodeconfig.DefaultDNSDomain {
		config["clusterDomain"] = cluster.DNSDomain
	}
	return config
}

// checksName reports whether the Node's name is checked: only with a credential that the node has before it has joined, and that
// kubeadm lets read Nodes (cmd/kubeadm/app/phases/bootstraptoken/node/tlsbootstrap.go, AllowBootstrapTokensToGetNodes). A
// client certificate may read its own Node (Kubernetes: Node authorization).
func checksName(in *concern.Input) bool {
	return in.TakesDefaults() && concern.DefaultsQuestion(in.Config) != nil
}
