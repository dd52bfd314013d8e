// Package kubeletsetting reads a kubelet setting of a contract: from a flag, which takes precedence, or from a field of the
// configuration. It checks nothing. The packages of internal/plan call it.
package kubeletsetting

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Value is the value of a kubelet's setting: the flag's, which takes precedence, or else the
// field's in its configuration, or else the default. The field is empty for a setting that only a flag sets.
func Value(k nodeconfig.Kubelet, flag, field, otherwise string) string {
	value := otherwise
	if set := Field(k, field); set != nil {
		value = fmt.Sprint(set)
	}
	for _, f := range k.Flags { // of repeated flags, the last one counts
		if f.Name == flag {
			value = f.Value
		}
	}
	return value
}

// List is the same for a list of texts. Flags of one name add up (github.com/spf13/pflag, StringSlice).
func List(k nodeconfig.Kubelet, flag, field string) []string {
	var values []string
	given := false
	for _, f := range k.Flags {
		if f.Name == flag {
			values, given = append(values, strings.Split(f.Value, ",")...), true
		}
	}
	if list, _ := Field(k, field).([]any); !given {
		for _, item := range list {
			values = append(values, fmt.Sprint(item))
		}
	}
	return values
}

// Switch is the same for a boolean setting. An invalid value counts as no setting: the kubelet itself
// refuses it.
func Switch(k nodeconfig.Kubelet, flag, field string, otherwise bool) bool {
	on, err := strconv.ParseBool(Value(k, flag, field, strconv.FormatBool(otherwise)))
	if err != nil {
		return otherwise
	}
	return on
}

// Field returns a field of the contract's kubelet configuration, with dots between names. It is nil if the field is not set. An empty
// text or list counts as not set, and so does a duration of zero, for which the kubelet uses its default
// (k8s.io/kubernetes v1.36.3 pkg/kubelet/apis/config/v1beta1/defaults.go). kubeadm writes such durations.
func Field(k nodeconfig.Kubelet, field string) any {
	if field == "" {
		return nil
	}
	var value any = k.Config
	for name := range strings.SplitSeq(field, ".") {
		fields, _ := value.(map[string]any)
		value = fields[name]
	}
	switch v := value.(type) {
	case []any:
		if len(v) == 0 {
			return nil
		}
	case string:
		if d, err := time.ParseDuration(v); v == "" || err == nil && d == 0 && v != "0" {
			return nil
		}
	}
	return value
}

// Path is where the contract sets one of the kubelet's settings: with a flag, or else in its configuration.
func Path(k nodeconfig.Kubelet, flag, field string) string {
	path := document.FieldPath("$.kubelet.config", field)
	for i, f := range k.Flags {
		if f.Name == flag {
			path = document.IndexPath("$.kubelet.flags", i)
		}
	}
	return path
}

// AsFlag is a value of the kubelet's configuration as a flag takes it: text, a list, names with their values, or a taint.
func AsFlag(value any) string {
	var words []string
	switch v := value.(type) {
	case nil:
		return ""
	case []any:
		for _, item := range v {
			words = append(words, AsFlag(item))
		}
		return strings.Join(words, ",")
	case map[string]any:
		if _, isTaint := v["effect"]; isTaint {
			return nodeconfig.Taint{Key: AsFlag(v["key"]), Value: AsFlag(v["value"]), Effect: AsFlag(v["effect"])}.String()
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			words = append(words, name+"="+AsFlag(v[name]))
		}
		return strings.Join(words, ",")
	}
	return fmt.Sprint(value)
}

// NodeName is the contract's name of the Node, in lower case. Empty means that the Node has the host's name.
func NodeName(k nodeconfig.Kubelet) string {
	return strings.ToLower(Value(k, "hostname-override", "", k.NodeName))
}

// Merge returns base with over laid on top of it: maps by field, everything else replaced. Neither
// argument is changed.
func Merge(base, over map[string]any) map[string]any {
	merged := maps.Clone(base)
	for name, value := range over {
		below, isMap := merged[name].(map[string]any)
		if above, ok := value.(map[string]any); ok && isMap {
			value = Merge(below, above)
		}
		merged[name] = value
	}
	return merged
}

func SamePath(a, b string) bool { return a != "" && path.Clean(a) == path.Clean(b) }
