package nodeconfig

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/place"
)

// kubelet validates values that the kubelet would refuse. All these problems are fatal: otherwise the user notices minutes later,
// and elsewhere, that the kubelet does not start.
func (v *validator) kubelet(k *Kubelet) {
	if k.NodeName != "" && (len(k.NodeName) > 253 || !isDNSName(k.NodeName)) {
		v.vital("$.kubelet.nodeName", "is not a DNS name of lower case letters, digits, dashes and dots")
	}
	v.nodeIPs(k.NodeIPs)
	checkMap(v, "$.kubelet.labels", k.Labels, func(key, value string) string {
		switch reason := checkLabel(key, value); {
		case reason != "" || !slices.Contains(osLabels, key) || value == "linux":
			return reason
		case value == "windows":
			return "is for Windows, and Slipway makes Linux nodes"
		}
		return "names another operating system than linux; Slipway makes Linux nodes"
	})
	v.taints(k.Taints)
	for i, flag := range k.Flags {
		at := func() string { return document.IndexPath("$.kubelet.flags", i) }
		switch {
		case !isFlagName(flag.Name):
			v.vital(at(), "is not the name of a flag; write it without dashes in front and without a value")
		case flag.IsSecret() && isRedacted(flag.Value):
			v.unsafe(at(), errRedacted.Error())
		case singleLine(flag.Value) != "":
			v.vital(at(), "has a line break in its value")
		case flag.Name == "node-labels":
			v.labelsFlag(at(), flag.Value)
		}
	}
	v.kindOf("$.kubelet.config", k.Config, KubeletConfigVersion, KubeletConfigKind)
	v.capacity(k.Capacity)
	v.machineLabels(k)
	if p := k.ImageCredentialProvider; p != nil {
		v.credentialProvider(p)
	}
}

// osLabels name a node's operating system (Kubernetes: well-known labels).
var osLabels = []string{"kubernetes.io/os", "beta.kubernetes.io/os"}

// labelsFlag validates labels in the format of the kubelet's flag (k8s.io/component-base cli/flag, ConfigurationMap).
func (v *validator) labelsFlag(at, text string) {
	for pair := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(pair, "=")
		if reason := checkLabel(strings.TrimSpace(key), strings.TrimSpace(value)); pair != "" && reason != "" {
			v.vital(at, "a label "+reason)
			return
		}
	}
}

func isPort(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}

// nodeIPs validates the addresses that a node may register: one address, or one of each family (k8s.io/kubernetes v1.36.3
// pkg/util/node: ParseNodeIPArgument; pkg/kubelet: validateNodeIP). If the only address is the unspecified one, the kubelet chooses
// one of its family (pkg/kubelet/nodestatus/setters.go: NodeAddress).
func (v *validator) nodeIPs(ips []string) {
	const at = "$.kubelet.nodeIPs"
	family := make(map[bool]bool) // the families with an address; the key is whether it is IPv6
	for i, ip := range ips {
		if reason := checkIP(ip); reason != "" {
			v.vital(document.IndexPath(at, i), reason)
			continue
		}
		addr := netip.MustParseAddr(ip).Unmap()
		if addr.IsUnspecified() {
			if len(ips) > 1 {
				v.vital(document.IndexPath(at, i), "is the unspecified address, which is possible alone: the kubelet then chooses one of its family")
			}
			continue
		}
		if !addr.IsGlobalUnicast() {
			v.vital(document.IndexPath(at, i), "is "+kindOfAddress(addr)+", and a node cannot be reached at one")
			continue
		}
		if family[addr.Is6()] {
			v.vital(document.IndexPath(at, i), "is another address of the same family; give one address, or one IPv4 and one IPv6 address")
			continue
		}
		family[addr.Is6()] = true
	}
}

// kindOfAddress names the kind of an address that no host can have.
func kindOfAddress(addr netip.Addr) string {
	switch {
	case addr.IsLoopback():
		return "a loopback address"
	case addr.IsLinkLocalUnicast():
		return "a link-local address"
	case addr.IsMulticast():
		return "a multicast address"
	}
	return "the broadcast address"
}

// taints validates the taints. The kubelet refuses two with the same key and effect (k8s.io/kubernetes v1.36.3 pkg/util/taints:
// ParseTaints).
func (v *validator) taints(taints []Taint) {
	seen := make(map[Taint]bool)
	for i, taint := range taints {
		at := func() string { return document.IndexPath("$.kubelet.taints", i) }
		if reason := checkTaint(taint); reason != "" {
			v.vital(at(), reason)
			continue
		}
		same := Taint{Key: taint.Key, Effect: taint.Effect}
		if seen[same] {
			v.vital(at(), "has the same key and effect as a taint before it; give each pair once")
			continue
		}
		seen[same] = true
	}
}

// The apiVersion and kind of a kubelet's configuration file.
const (
	KubeletConfigVersion = "kubelet.config.k8s.io/v1beta1"
	KubeletConfigKind    = "KubeletConfiguration"
)

// kindOf checks the kind of an upstream document, if it has one.
func (v *validator) kindOf(at string, config map[string]any, apiVersion, kind string) {
	if got, ok := config["apiVersion"]; ok && got != apiVersion {
		v.vital(at+".apiVersion", fmt.Sprintf("want %q", apiVersion))
	}
	if got, ok := config["kind"]; ok && got != kind {
		v.vital(at+".kind", fmt.Sprintf("want %q", kind))
	}
}

func (v *validator) credentialProvider(p *ImageCredentialProvider) {
	const at = "$.kubelet.imageCredentialProvider"
	for _, field := range []struct{ name, value string }{{"binDir", p.BinDir}, {"configFile", p.ConfigFile}} {
		if field.value == "" {
			continue
		}
		if reason := checkAbsolute(field.value); reason != "" {
			v.vital(at+"."+field.name, reason)
		}
	}
	if p.Config != nil && checkAbsolute(p.ConfigFile) == "" { // without a config, the file is the image's and is only read
		if reason := place.CredentialProviderConfig.Check(p.ConfigFile); reason != "" {
			v.vital(at+".configFile", reason)
		}
	}
	if p.BinDir == "" {
		v.missing(at+".binDir", "is missing; give the directory of the provider's program")
	}
}

func checkLabel(key, value string) string {
	if reason := checkLabelKey(key); reason != "" {
		return reason
	}
	if value != "" && !isLabelValue(value) {
		return fmt.Sprintf("has a value (of %d characters) that Kubernetes refuses: use at most 63 letters, digits, dashes, dots and underscores, with a letter or digit at both ends", len(value))
	}
	return checkReservedLabel(key)
}

// checkLabelKey checks that a string is a qualified name: a name, or a DNS name and a name with a slash between.
func checkLabelKey(key string) string {
	name := key
	if prefix, rest, found := strings.Cut(key, "/"); found {
		if len(prefix) > 253 || !isDNSName(prefix) {
			return "has a prefix that is not a DNS name"
		}
		name = rest
	}
	if !isLabelValue(name) {
		return fmt.Sprintf("has a name (of %d characters) that Kubernetes refuses: use at most 63 letters, digits, dashes, dots and underscores, with a letter or digit at both ends", len(name))
	}
	return ""
}

// taintEffects are core/v1's.
var taintEffects = []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}

func checkTaint(t Taint) string {
	if reason := checkLabelKey(t.Key); reason != "" {
		return "key " + reason
	}
	if t.Value != "" && !isLabelValue(t.Value) {
		return "value is not possible in Kubernetes"
	}
	if !slices.Contains(taintEffects, t.Effect) {
		return "effect is unknown; use one of " + strings.Join(taintEffects, ", ")
	}
	return ""
}
