// Package akstext has the forms in which AKS's own program writes values for its scripts: sorted pairs, the kubelet's
// flags and configuration, the image credential provider's configuration, what a version is at least.
//
// It knows texts and no contract. nodeconfig/aks calls it for what has no other place in a config, and internal/cse for
// all else, so that both write the same.
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

// The streaming connections' idle timeout, as a flag and in the kubelet's configuration. It is left out where no kubelet
// reads it.
const (
	idleTimeoutFlag = "--streaming-connection-idle-timeout"
	idleTimeout     = "streamingConnectionIdleTimeout"
)

// IdleTimeoutIgnored is the minor of Kubernetes from which on kubelets read their streaming connections' idle timeout
// nowhere (k8s.io/kubernetes v1.34.4: only types and defaults name it).
const IdleTimeoutIgnored = 34

// Pairs are a map's entries, "KEY=VALUE", sorted by key, with a text between them.
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

// Flags are a kubelet's flags by their names, with dashes, as the scripts take them.
func Flags(flags map[string]string, version string) string {
	if _, ok := flags[idleTimeoutFlag]; ok && versions.AtLeast(version, IdleTimeoutIgnored) {
		flags = maps.Clone(flags)
		delete(flags, idleTimeoutFlag)
	}
	return Pairs(flags, " ")
}

// own are the flags of a kubelet that have fields of their own, by name without dashes.
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

// FlagsOf are the flags of a kubelet by their names, with dashes, and among them those that have fields of their own. Of one
// that is there twice the last counts, as in the kubelet.
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

// AreFlagsOf reports whether flags are those of a kubelet, none of which is there twice.
func AreFlagsOf(flags map[string]string, k *nodeconfig.Kubelet) bool {
	return maps.Equal(flags, FlagsOf(k))
}

// order is a message's fields in the order of their numbers, with what is below each; nil for what has no fields.
type order []field

// field is one of them.
type field struct {
	name  string
	below order
}

// kubeletOrder is that of the kubelet's configuration.
var kubeletOrder = sync.OnceValue(func() order { return orderOf(reflect.TypeFor[aksnodeconfig.KubeletConfigFileConfig]()) })

// names correct the contract's names where they are not the kubelet's.
var names = map[string]string{
	"cacheTtl":             "cacheTTL",
	"cacheAuthorizedTtl":   "cacheAuthorizedTTL",
	"cacheUnauthorizedTtl": "cacheUnauthorizedTTL",
}

// KubeletName is a field of the kubelet's configuration as the kubelet spells it, by the contract's JSON name.
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

// kept are the settings of the kubelet that AKS's program writes with an empty value, a zero or a false, too. It leaves all others out,
// because its contract does not know the difference.
var kept = []string{
	// The value means another thing than none (kubelet: v1beta1 defaults).
	"evictionHard", "enforceNodeAllocatable", "resolvConf", "authentication.webhook.enabled",
	// The contract knows a zero from none.
	"eventRecordQPS", "imageGCHighThresholdPercent", "imageGCLowThresholdPercent", "cgroupsPerQOS", "maxPods", "podPidsLimit",
	"cpuCFSQuota", "failSwapOn", "containerLogMaxFiles", "serializeImagePulls",
}

// KubeletConfig is a configuration of the kubelet's as AKS's program writes it: its fields in the order of their numbers,
// and those that the contract does not know after them, by name. No configuration is "{}".
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

// appendFields writes the fields of a message that is at a path.
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

// isAbsent reports whether a value at a path is one that the contract does not know from none.
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

// known returns the fields of the message at a path, and whether it is one.
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

// appendJSON writes a value that came from a document, which JSON has a form for.
func appendJSON(b *bytes.Buffer, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		text = []byte("null")
	}
	b.Write(text)
}
