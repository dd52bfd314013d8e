package plan

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/kubeletapi"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// kubeletFlags writes the kubelet's environment file: its flags and labels.
func (p *planner) kubeletFlags() {
	wanted := p.labels()
	labels := make([]string, 0, len(wanted))
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		labels = append(labels, key+"="+wanted[key])
	}
	variables := [][2]string{
		{"KUBELET_FLAGS", joinFlags(p.flags())},
		{"KUBELET_REGISTER_SCHEDULABLE", "true"},
		{"NETWORK_POLICY", p.config.Network.Policy},
		{"KUBELET_IMAGE", ""},
		{"KUBELET_NODE_LABELS", strings.Join(labels, ",")},
	}
	if a := p.config.Cloud.Azure; a != nil && a.Custom != nil {
		variables = append(variables, [2]string{"AZURE_ENVIRONMENT_FILEPATH", p.layout.customCloud})
	}
	secret := slices.ContainsFunc(p.config.Kubelet.Flags, nodeconfig.Flag.IsSecret)
	p.guarded(secret, resource.Join, p.layout.kubeletEnv, 0o600, environmentFile(variables...), "the kubelet's flags and labels", kubeletUnit)
}

// servingCALabel tells the cluster that the kubelet's serving certificate is signed by it (AKS:
// kubelet serving certificate rotation).
const servingCALabel = "kubernetes.azure.com/kubelet-serving-ca"

// labels are the contract's, and those that follow from it.
func (p *planner) labels() map[string]string {
	labels := p.config.Kubelet.Labels
	if p.config.Components.Layout == nodeconfig.LayoutAKS && p.servingRotation() {
		labels = maps.Clone(labels)
		if labels == nil {
			labels = make(map[string]string)
		}
		labels[servingCALabel] = "cluster"
	}
	return labels
}

// servingRotation reports whether the kubelet asks the cluster for its serving certificate.
func (p *planner) servingRotation() bool {
	return p.config.Kubelet.Config["serverTLSBootstrap"] == true
}

// selfSigned are the certificate and key that AKS's scripts make with openssl before the kubelet
// starts. A kubelet that is named none makes its own, so they are not named.
var selfSigned = []nodeconfig.Flag{
	{Name: "tls-cert-file", Value: "/etc/kubernetes/certs/kubeletserver.crt"},
	{Name: "tls-private-key-file", Value: "/etc/kubernetes/certs/kubeletserver.key"},
}

// selfSigned reports whether a flag names one of those files. On a node that is not AKS's they are like any other.
func (p *planner) selfSigned(flag nodeconfig.Flag) bool {
	return p.config.Components.Layout == nodeconfig.LayoutAKS && slices.Contains(selfSigned, flag)
}

// The setting that kubelets take and ignore since idleTimeoutIgnored (AKS drops it there).
const (
	idleTimeoutFlag  = "streaming-connection-idle-timeout"
	idleTimeoutField = "streamingConnectionIdleTimeout"
	// idleTimeoutReason says why it is not given.
	idleTimeoutReason = "is left out: kubelets read it nowhere since Kubernetes 1.34"
)

// flags are Slipway's own and the contract's, sorted by name; flags of one name keep their order.
func (p *planner) flags() []nodeconfig.Flag {
	k := p.config.Kubelet
	var flags []nodeconfig.Flag
	own := func(name, value string) {
		if value != "" {
			flags = append(flags, nodeconfig.Flag{Name: name, Value: value})
		}
	}
	own("hostname-override", k.NodeName)
	own("node-ip", p.nodeIP())
	var taints []string
	for _, t := range k.Taints {
		taints = append(taints, t.String())
	}
	own("register-with-taints", strings.Join(taints, ","))
	if p.credentialConfig != "" {
		own("image-credential-provider-bin-dir", k.ImageCredentialProvider.BinDir)
		own("image-credential-provider-config", p.credentialConfig)
	}
	check := kubeletapi.New(p.minor)
	for i, flag := range k.Flags {
		at := document.IndexPath("$.kubelet.flags", i)
		switch {
		case p.selfSigned(flag) || p.managed(at, flag):
		case flag.Name == idleTimeoutFlag && p.reached(idleTimeoutIgnored):
			p.warn(nodeconfig.Dropped, at, "--%s %s", flag.Name, idleTimeoutReason)
		case p.minor == newest:
			flags = append(flags, flag)
		default:
			if leftOut := check.Flag(at, flag.Name, flag.Value); !leftOut {
				flags = append(flags, flag)
			}
		}
	}
	p.problems = append(p.problems, check.Problems("$.kubelet.flags")...)
	slices.SortStableFunc(flags, func(a, b nodeconfig.Flag) int { return cmp.Compare(a.Name, b.Name) })
	return flags
}

// nodeIP is the address the node registers: the contract's, or the primary interface's where the
// layout and the version need one to be told.
func (p *planner) nodeIP() string {
	ips := p.config.Kubelet.NodeIPs
	if len(ips) == 0 && p.layout.nodeIP && p.reached(nodeIPNeeded) {
		ips = addressesOf(p.config, p.facts)
	}
	return strings.Join(ips, ",")
}

// addressesOf are the machine's addresses of the families that the contract wants.
func addressesOf(c *nodeconfig.NodeConfig, f facts.Facts) []string {
	var ips []string
	for _, ip := range f.NodeIPs {
		if v6 := strings.Contains(ip, ":"); slices.Contains(c.Network.IPFamilies, map[bool]string{false: "IPv4", true: "IPv6"}[v6]) {
			ips = append(ips, ip)
		}
	}
	return ips
}

// NeedsAddress reports whether a node of this config is told its own address and the facts have none: a plan
// that is made before the machine's network is up would be another one at the next boot.
func NeedsAddress(c *nodeconfig.NodeConfig, f facts.Facts) bool {
	p := &planner{config: c, layout: layoutOf(c), minor: minorOf(c.Cluster.KubernetesVersion)}
	return c.Join.Method != nodeconfig.JoinNone && len(c.Kubelet.NodeIPs) == 0 && p.layout.nodeIP && p.reached(nodeIPNeeded) &&
		len(addressesOf(c, f)) == 0
}

// joinFlags writes flags as systemd will split them again.
func joinFlags(flags []nodeconfig.Flag) string {
	words := make([]string, len(flags))
	for i, f := range flags {
		words[i] = word("--" + f.Name + "=" + f.Value)
	}
	return strings.Join(words, " ")
}
