package plan

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/kubeletapi"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// kubeletFlags writes the kubelet's environment file: its flags and labels.
var kubeletFlags = concern{
	name:  "kubelet flags",
	joins: true,
	reads: []string{
		"$.kubelet.config",
		"$.kubelet.flags",
		"$.kubelet.imageCredentialProvider",
		"$.kubelet.labels",
		"$.kubelet.machineLabels",
		"$.kubelet.nodeIPs",
		"$.kubelet.nodeName",
		"$.kubelet.taints",
		"$.network.ipFamilies",
		localDNSPath, // with the next, whether the node has the label of a DNS cache's exporter
		nameserversPath,
		"$.network.policy",
		gpuPath, // whether the node has the label of the exporter of its GPUs' metrics
	},
	plan: planKubeletFlags,
}

func planKubeletFlags(in *input, out *output) {
	checkProvider(in, out)
	if !in.family.Kubelet.NodeIP && !slices.Equal(in.config.Network.IPFamilies, []string{"IPv4"}) {
		out.notApplied("$.network.ipFamilies")
	}
	values := map[profile.Content]string{
		profile.Flags:         joinFlags(flags(in, out)),
		profile.Labels:        labelsOf(in),
		profile.NetworkPolicy: in.config.Network.Policy,
		profile.CustomCloud:   in.family.Paths.CustomCloud,
	}
	if in.family.Kubelet.Variable(profile.Taints) != "" {
		values[profile.Taints] = taintsOf(in.config.Kubelet)
	}
	if in.setsPods() {
		values[profile.MaxPods] = kubeletSetting(in.config.Kubelet, maxPodsFlag, maxPodsField, "")
	}
	var variables [][2]string
	for _, v := range in.family.Kubelet.Environment {
		if v.Holds == profile.MaxPods && values[v.Holds] == "" {
			continue
		}
		if a := in.config.Cloud.Azure; v.Holds == profile.CustomCloud && (a == nil || a.Custom == nil) {
			continue
		}
		variables = append(variables, [2]string{v.Name, cmp.Or(v.Value, values[v.Holds])})
	}
	secret := slices.ContainsFunc(in.config.Kubelet.Flags, nodeconfig.Flag.IsSecret)
	out.guarded(secret, resource.Join, in.family.Paths.KubeletEnv, 0o600, environmentFile(variables...), "the kubelet's flags and labels", kubeletUnit)
}

// labels are the contract's, and those that follow from it.
func labels(in *input) map[string]string {
	labels := make(map[string]string)
	maps.Copy(labels, in.config.Kubelet.Labels)
	maps.Copy(labels, in.machineLabels(false, in.known))
	if servingRotation(in.config) {
		for name, value := range in.family.Kubelet.ServingLabels {
			if labels[name] = value; in.servingOff() {
				delete(labels, name)
			}
		}
	}
	if exportsDNS(in) {
		maps.Copy(labels, in.family.LocalDNS.ExporterLabels)
	}
	if in.observesGPU() {
		maps.Copy(labels, in.family.GPU.Labels)
	}
	return labels
}

// labelsOf are the node's labels as the kubelet takes them.
func labelsOf(in *input) string {
	wanted := labels(in)
	labels := make([]string, 0, len(wanted))
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		labels = append(labels, key+"="+wanted[key])
	}
	return strings.Join(labels, ",")
}

// isSelfSigned reports whether a setting names a certificate, or its key, that the family's own scripts would make.
func isSelfSigned(in *input, flag, value string) bool {
	pair := in.family.Kubelet.SelfSigned
	return value != "" && (flag == certificateFlag && value == pair.Certificate || flag == keyFlag && value == pair.Key)
}

// The settings that name the kubelet's serving certificate and its key.
const (
	certificateFlag  = "tls-cert-file"
	certificateField = "tlsCertFile"
	keyFlag          = "tls-private-key-file"
	keyField         = "tlsPrivateKeyFile"
)

// The setting that kubelets take and ignore since idleTimeoutIgnored.
const (
	idleTimeoutFlag  = "streaming-connection-idle-timeout"
	idleTimeoutField = "streamingConnectionIdleTimeout"
	// idleTimeoutReason says why it is not given.
	idleTimeoutReason = "is left out: kubelets read it nowhere since Kubernetes 1.34"
)

// flags are Slipway's own and the contract's, sorted by name; flags of one name keep their order.
func flags(in *input, out *output) []nodeconfig.Flag {
	k := in.config.Kubelet
	var flags []nodeconfig.Flag
	own := func(name, value string) {
		if value != "" {
			flags = append(flags, nodeconfig.Flag{Name: name, Value: value})
		}
	}
	own("hostname-override", k.NodeName)
	if in.family.Command.DropIn.File == "" {
		own("node-ip", nodeIP(in))
		own("register-with-taints", taintsOf(k))
	}
	if in.credentialConfig != "" {
		own("image-credential-provider-bin-dir", k.ImageCredentialProvider.BinDir)
		own("image-credential-provider-config", in.credentialConfig)
	}
	for i, flag := range k.Flags {
		at := document.IndexPath("$.kubelet.flags", i)
		switch {
		case isSelfSigned(in, flag.Name, flag.Value) || managed(in, out, at, flag):
		case flag.Name == rotationFlag && in.servingOff():
			flags = append(flags, nodeconfig.Flag{Name: flag.Name, Value: "false"})
			warnServingOff(out, at)
		case flag.Name == idleTimeoutFlag && in.reached(idleTimeoutIgnored):
			out.warn(nodeconfig.Dropped, at, "--%s %s", flag.Name, idleTimeoutReason)
		case in.minor == newest || !kubeletapi.LeftOut(in.minor, flag.Name):
			flags = append(flags, flag)
		}
	}
	slices.SortStableFunc(flags, func(a, b nodeconfig.Flag) int { return cmp.Compare(a.Name, b.Name) })
	return flags
}

// taintsOf are the node's taints as the kubelet takes them.
func taintsOf(k nodeconfig.Kubelet) string {
	var taints []string
	for _, t := range k.Taints {
		taints = append(taints, t.String())
	}
	return strings.Join(taints, ",")
}

// nodeIP is the address the node registers: the contract's, or the primary interface's where the
// family and the version need one to be told.
func nodeIP(in *input) string {
	ips := in.config.Kubelet.NodeIPs
	if len(ips) == 0 && in.needsAddress() && !(in.agentless && in.refers(addressVariable)) {
		ips = addressesOf(in.config, in.facts)
	}
	return strings.Join(ips, ",")
}

// needsAddress reports whether the kubelet must be told the machine's address.
func (in *input) needsAddress() bool {
	return in.family.Kubelet.NodeIP && (in.reached(nodeIPNeeded) || in.family.Command.Local != "")
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

// joinFlags writes flags as systemd will split them again.
func joinFlags(flags []nodeconfig.Flag) string {
	words := make([]string, len(flags))
	for i, f := range flags {
		words[i] = word("--" + f.Name + "=" + f.Value)
	}
	return strings.Join(words, " ")
}
