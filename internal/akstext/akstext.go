// Package akstext has the formats in which AKS's own program writes values for its scripts: sorted pairs, the kubelet's flags and
// configuration, the image credential provider's configuration, minimum versions.
//
// It knows texts and no contract. nodeconfig/aks calls it for values that have no other field in a config, and internal/cse for all
// others, so that both write the same.
package akstext

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/aksnodeconfig"
	"github.com/slipway-dev/slipway/internal/versions"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The streaming connections' idle timeout, as a flag and in the kubelet's configuration. It is omitted for kubelets that ignore it.
const (
	idleTimeoutFlag = "--streaming-connection-idle-timeout"
	idleTimeout     = "streamingConnectionIdleTimeout"
)

// IdleTimeoutIgnored is the minor version since which kubelets ignore their streaming connections' idle timeout (k8s.io/kubernetes
// v1.34.4: only types and defaults name it).
const IdleTimeoutIgnored = 34

// Pairs joins a map's entries, "KEY=VALUE", sorted by key, with a text between them.
func Pairs(m map[string]string, between string) string {
	var b strings.Builder
	for i, key := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(key + "=" + m[key])
	}
	return b.String()
}

// Flags joins a kubelet's flags by their names, with dashes, in the scripts' format.
func Flags(flags map[string]string, version string) string {
	if _, ok := flags[idleTimeoutFlag]; ok && versions.AtLeast(version, IdleTimeoutIgnored) {
		flags = maps.Clone(flags)
		delete(flags, idleTimeoutFlag)
	}
	return Pairs(flags, " ")
}

// own are the kubelet's flags with a separate field, by name without dashes.
var own = []struct {
	name  string
	value func(*nodeconfig.Kubelet) string
}{
	{"hostname-override", func(k *nodeconfig.Kubelet) string { return k.NodeName }},
	{"node-ip", func(k *nodeconfig.Kubelet) string { return strings.Join(k.NodeIPs, ",") }},
	{"register-with-taints", func(k *nodeconfig.Kubelet) string {
		taints := make([]string, len(k.Taints))
		for i, taint := range k.Taints {
			taints[i] = taint.String()
		}
		return strings.Join(taints, ",")
	}},
	{"image-credential-provider-bin-dir", func(k *nodeconfig.Kubelet) string {
		if k.ImageCredentialProvider == nil {
			return ""
		}
		return k.ImageCredentialProvider.BinDir
	}},
	{"image-credential-provider-config", func(k *nodeconfig.Kubelet) string {
		if k.ImageCredentialProvider == nil {
			return ""
		}
		return k.ImageCredentialProvider.ConfigFile
	}},
}

// FlagsOf returns the flags of a kubelet by their names, with dashes, including those with a separate field. If a flag occurs
// twice, the last one counts, as in the kubelet.
func FlagsOf(k *nodeconfig.Kubelet) map[string]string {
	flags := make(map[string]string, len(k.Flags)+len(own))
	for _, o := range own {
		if value := o.value(k); value != "" {
			flags["--"+o.name] = value
		}
	}
	for _, flag := range k.Flags {
		flags["--"+flag.Name] = flag.Value
	}
	return flags
}

// AreFlagsOf reports whether flags are those of a kubelet, and none of them occurs twice.
func AreFlagsOf(flags map[string]string, k *nodeconfig.Kubelet) bool {
	return maps.Equal(flags, FlagsOf(k))
}

// order is a message's fields in the order of their numbers, with the fields below each. It is nil for a value without fields.
type order []field

// field is one of them.
type field struct {
	name  string
	below order
}

// kubeletOrder is that of the kubelet's configuration.
var kubeletOrder = sync.OnceValue(func() order { return orderOf(reflect.TypeFor[aksnodeconfig.KubeletConfigFileConfig]()) })

// names correct the contract's names that differ from the kubelet's.
var names = map[string]string{
	"cacheTtl":             "cacheTTL",
	"cacheAuthorizedTtl":   "cacheAuthorizedTTL",
	"cacheUnauthorizedTtl": "cacheUnauthorizedTTL",
}

// KubeletName returns the kubelet's name for a field of its configuration, by the contract's JSON name.
func KubeletName(name string) string {
	if kubelet, ok := names[name]; ok {
		return kubelet
	}
	return name
}

func orderOf(t reflect.Type) order {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	o := make(order, t.NumField())
	for i := range o {
		_, name := aksnodeconfig.Names(t.Field(i))
		o[i].name, o[i].below = KubeletName(name), orderOf(t.Field(i).Type)
	}
	return o
}

// kept are the kubelet's settings that AKS's program also writes if they are empty, zero or false. It omits all others then,
// because its contract cannot distinguish them from unset ones.
var kept = []string{
	// The value differs from the default for an unset one (kubelet: v1beta1 defaults).
	"evictionHard", "enforceNodeAllocatable", "resolvConf", "authentication.webhook.enabled",
	// The contract distinguishes a zero from an unset value.
	"eventRecordQPS", "imageGCHighThresholdPercent", "imageGCLowThresholdPercent", "cgroupsPerQOS", "maxPods", "podPidsLimit",
	"cpuCFSQuota", "failSwapOn", "containerLogMaxFiles", "serializeImagePulls",
}

// KubeletConfig writes a kubelet's configuration as AKS's program does: its fields in the order of their numbers, and then those
// that the contract does not know, by name. Without a configuration it returns "{}".
func KubeletConfig(config map[string]any, version string) string {
	config = maps.Clone(config)
	if versions.AtLeast(version, IdleTimeoutIgnored) {
		delete(config, idleTimeout)
	}
	var compact, text bytes.Buffer
	appendFields(&compact, config, kubeletOrder(), "")
	if json.Indent(&text, compact.Bytes(), "", "    ") != nil {
		return "{}"
	}
	return text.String()
}

// appendFields writes the fields of a message at a path.
func appendFields(b *bytes.Buffer, fields map[string]any, known order, at string) {
	written := make(map[string]bool, len(fields))
	appendField := func(name string, below order) {
		value, ok := fields[name]
		if written[name] = true; !ok || isAbsent(at+name, value) {
			return
		}
		if b.Bytes()[b.Len()-1] != '{' {
			b.WriteByte(',')
		}
		appendJSON(b, name)
		b.WriteByte(':')
		if message, ok := value.(map[string]any); ok && below != nil {
			appendFields(b, message, below, at+name+".")
			return
		}
		appendJSON(b, value)
	}
	b.WriteByte('{')
	for _, field := range known {
		appendField(field.name, field.below)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !written[name] {
			appendField(name, nil)
		}
	}
	b.WriteByte('}')
}

// isAbsent reports whether the contract cannot distinguish a value at a path from an unset one.
func isAbsent(path string, value any) bool {
	if slices.Contains(kept, path) {
		return false
	}
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Slice:
		return v.Len() == 0
	case reflect.Map:
		_, isMessage := known(path)
		return v.Len() == 0 && !isMessage
	}
	return v.IsZero()
}

// known returns the fields of the message at a path, and reports whether it is a message.
func known(path string) (order, bool) {
	o := kubeletOrder()
	for name := range strings.SplitSeq(path, ".") {
		i := slices.IndexFunc(o, func(f field) bool { return f.name == name })
		if i < 0 {
			return nil, false
		}
		o = o[i].below
	}
	return o, o != nil
}

// appendJSON writes a value of a document, which always has a JSON form.
func appendJSON(b *bytes.Buffer, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		text = []byte("null")
	}
	b.Write(text)
}
