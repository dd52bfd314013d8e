package nodeconfig

import (
	"slices"
	"strings"
)

// The labels below kubernetes.io and k8s.io that a kubelet may set on its own Node. It refuses to start with any other
// (k8s.io/kubelet/pkg/apis, well_known_labels.go; the kubelet's --node-labels validation).
var (
	kubeletLabels = []string{
		"kubernetes.io/hostname",
		"kubernetes.io/arch",
		"kubernetes.io/os",
		"beta.kubernetes.io/arch",
		"beta.kubernetes.io/instance-type",
		"beta.kubernetes.io/os",
		"failure-domain.beta.kubernetes.io/region",
		"failure-domain.beta.kubernetes.io/zone",
		"node.kubernetes.io/instance-type",
		"topology.kubernetes.io/region",
		"topology.kubernetes.io/zone",
	}
	kubeletLabelDomains = []string{"kubelet.kubernetes.io", "node.kubernetes.io"}
	reservedDomains     = []string{"kubernetes.io", "k8s.io"}
)

// KubeletMaySet reports whether a kubelet may set a label on its own Node. The cluster's controllers set the others.
func KubeletMaySet(label string) bool {
	domain, _, found := strings.Cut(label, "/")
	return !found || !inDomain(domain, reservedDomains) || slices.Contains(kubeletLabels, label) || inDomain(domain, kubeletLabelDomains)
}

// KubeletSets reports whether the kubelet, or the cloud, sets a label on each Node.
func KubeletSets(label string) bool { return slices.Contains(kubeletLabels, label) }

// checkReservedLabel returns why the kubelet would refuse to set a well-formed label.
func checkReservedLabel(key string) string {
	if KubeletMaySet(key) {
		return ""
	}
	return "is reserved: a kubelet may set only the well-known labels of kubernetes.io and k8s.io, and those below " +
		strings.Join(kubeletLabelDomains, " and ")
}

func inDomain(domain string, domains []string) bool {
	return slices.ContainsFunc(domains, func(d string) bool {
		above, in := strings.CutSuffix(domain, d)
		return in && (above == "" || strings.HasSuffix(above, "."))
	})
}
