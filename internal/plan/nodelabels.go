package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// labels are the contract's, and those that follow from it.
func labels(in *input) map[string]string {
	labels := make(map[string]string)
	maps.Copy(labels, in.config.Kubelet.Labels)
	for key, variable := range in.machineLabels(false) {
		if value := in.known(variable); value != "" {
			labels[key] = value
		}
	}
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

// taintsOf are the node's taints as the kubelet takes them.
func taintsOf(k nodeconfig.Kubelet) string {
	var taints []string
	for _, t := range k.Taints {
		taints = append(taints, t.String())
	}
	return strings.Join(taints, ",")
}

// nodeIP is the address the node registers: the contract's, or the primary interface's where the
// family and the version need it in a flag.
func nodeIP(in *input) string {
	ips := in.config.Kubelet.NodeIPs
	if len(ips) == 0 && in.wanted[addressVariable] != "" && !(in.agentless && in.refers(addressVariable)) {
		ips = addressesOf(in.config, in.facts)
	}
	return strings.Join(ips, ",")
}

// needsAddress reports whether the kubelet needs the machine's address in a flag.
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
