package nodeconfig

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/place"
)

// flagName is a command line flag's name without its dashes.
var flagName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// kubelet validates what the kubelet would refuse. All of it is fatal: a kubelet that does not start
// is found minutes later and far away.
func (v *validator) kubelet(k *Kubelet) {
	if k.NodeName != "" && (len(k.NodeName) > 253 || !dnsName.MatchString(k.NodeName)) {
		v.fatal("$.kubelet.nodeName", "is no DNS name of lower case letters, digits, dashes and dots")
	}
	for i, ip := range k.NodeIPs {
		if reason := checkIP(ip); reason != "" {
			v.fatal(document.IndexPath("$.kubelet.nodeIPs", i), reason)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(k.Labels)) {
		if reason := checkLabel(key, k.Labels[key]); reason != "" {
			v.fatal(document.FieldPath("$.kubelet.labels", key), reason)
		}
	}
	for i, taint := range k.Taints {
		if reason := checkTaint(taint); reason != "" {
			v.fatal(document.IndexPath("$.kubelet.taints", i), reason)
		}
	}
	for i, flag := range k.Flags {
		at := document.IndexPath("$.kubelet.flags", i)
		switch {
		case !flagName.MatchString(flag.Name):
			v.fatal(at, "is no flag name; want it without dashes and without a value")
		case singleLine(flag.Value) != "":
			v.fatal(at, "has a line break in its value")
		}
	}
	v.kindOf("$.kubelet.config", k.Config, kubeletConfigVersion, kubeletConfigKind)
	if p := k.ImageCredentialProvider; p != nil {
		v.credentialProvider(p)
	}
	v.oneOf("$.kubelet.dataDisk", &k.DataDisk, "OS", "Temporary")
}

// What a kubelet's configuration file says it is.
const (
	kubeletConfigVersion = "kubelet.config.k8s.io/v1beta1"
	kubeletConfigKind    = "KubeletConfiguration"
)

// kindOf wants an upstream document to be of its kind, where it says anything.
func (v *validator) kindOf(at string, config map[string]any, apiVersion, kind string) {
	if got, ok := config["apiVersion"]; ok && got != apiVersion {
		v.fatal(at+".apiVersion", fmt.Sprintf("want %q", apiVersion))
	}
	if got, ok := config["kind"]; ok && got != kind {
		v.fatal(at+".kind", fmt.Sprintf("want %q", kind))
	}
}

func (v *validator) credentialProvider(p *ImageCredentialProvider) {
	const at = "$.kubelet.imageCredentialProvider"
	for _, field := range []struct{ name, value string }{{"binDir", p.BinDir}, {"configFile", p.ConfigFile}} {
		if field.value == "" {
			continue
		}
		if reason := checkAbsolute(field.value); reason != "" {
			v.fatal(at+"."+field.name, reason)
		}
	}
	if p.Config != nil && checkAbsolute(p.ConfigFile) == "" { // without one, the file is the image's and is only read
		if reason := place.CredentialProviderConfig.Check(p.ConfigFile); reason != "" {
			v.fatal(at+".configFile", reason)
		}
	}
	if p.BinDir == "" {
		v.missing(at+".binDir", "is missing; want the directory of the provider's binary")
	}
	v.kindOf(at+".config", p.Config, "kubelet.config.k8s.io/v1", "CredentialProviderConfig")
}

// labelValue is a label's value or the name part of its key (apimachinery, IsValidLabelValue and
// IsQualifiedName).
var labelValue = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)

func checkLabel(key, value string) string {
	if reason := checkLabelKey(key); reason != "" {
		return reason
	}
	if value != "" && !labelValue.MatchString(value) {
		return fmt.Sprintf("has a value (of %d characters) that Kubernetes refuses: want at most 63 letters, digits, dashes, dots and underscores, beginning and ending with a letter or digit", len(value))
	}
	return checkReservedLabel(key)
}

// checkLabelKey wants a qualified name: a name, or a DNS name and a name with a slash between.
func checkLabelKey(key string) string {
	name := key
	if prefix, rest, found := strings.Cut(key, "/"); found {
		if len(prefix) > 253 || !dnsName.MatchString(prefix) {
			return "has a prefix that is no DNS name"
		}
		name = rest
	}
	if !labelValue.MatchString(name) {
		return fmt.Sprintf("has a name (of %d characters) that Kubernetes refuses: want at most 63 letters, digits, dashes, dots and underscores, beginning and ending with a letter or digit", len(name))
	}
	return ""
}

// taintEffects are core/v1's.
var taintEffects = []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}

func checkTaint(t Taint) string {
	if reason := checkLabelKey(t.Key); reason != "" {
		return "key " + reason
	}
	if t.Value != "" && !labelValue.MatchString(t.Value) {
		return "value is not one that Kubernetes takes"
	}
	if !slices.Contains(taintEffects, t.Effect) {
		return "effect is unknown; want one of " + strings.Join(taintEffects, ", ")
	}
	return ""
}
