package kubeletapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// valueRows are values of a configuration that are of their type, and that a kubelet does not start with all the same. Each
// check is given one, and returns what is wanted in its place (k8s.io/kubernetes v1.36.3 pkg/kubelet/apis/config/validation;
// containers' logs: pkg/kubelet/logs, parseMaxSize; processors: pkg/kubelet/cm/cpumanager, NewManager).
var valueRows = []struct {
	field, flag string
	check       func(any) string
}{
	{"cpuManagerPolicy", "cpu-manager-policy", among("none", "static")},
	{"topologyManagerPolicy", "topology-manager-policy", among("none", "best-effort", "restricted", "single-numa-node")},
	{highThreshold, "image-gc-high-threshold", between(0, 100)},
	{lowThreshold, "image-gc-low-threshold", between(0, 100)},
	{"containerLogMaxFiles", "container-log-max-files", between(2, 1<<31-1)},
	{"containerLogMaxSize", "container-log-max-size", logSize},
	{quotaPeriod, "cpu-cfs-quota-period", period},
}

// Fields that are compared with another one.
const (
	highThreshold = "imageGCHighThresholdPercent"
	lowThreshold  = "imageGCLowThresholdPercent"
	quotaPeriod   = "cpuCFSQuotaPeriod"
)

// The kubelet's own thresholds, where its configuration has none (v1beta1 defaults).
const (
	standardHigh = 85
	standardLow  = 80
)

// quotaGate is the feature gate of a quota's period that is not the usual one, and sinceQuota the minor that needs none.
const (
	quotaGate  = "CustomCPUCFSQuotaPeriod"
	sinceQuota = 36
)

// NeedsQuotaGate reports whether a kubelet of a minor starts with a quota's period only by a feature gate, which is returned.
func NeedsQuotaGate(minor int, config map[string]any) (gate string, needed bool) {
	text, said := config[quotaPeriod].(string)
	if !said {
		return quotaGate, false
	}
	d, err := time.ParseDuration(text)
	return quotaGate, err == nil && d != 100*time.Millisecond && minor < sinceQuota
}

// values checks the values of a configuration, and those of flags, which go before them. One of a wrong type is reported elsewhere.
func (c *Checker) values(at string, config map[string]any, flagsAt string, flags []nodeconfig.Flag) {
	config, given := laid(config, flags)
	stops := func(field, reason string) {
		path := document.FieldPath(at, field)
		if i, ok := given[field]; ok {
			path = document.IndexPath(flagsAt, i)
		}
		c.report(nodeconfig.Invalid, true, path, reason+"; the kubelet would not start")
	}
	for _, row := range valueRows {
		if v := config[row.field]; v != nil && v != "" {
			if reason := row.check(v); reason != "" {
				stops(row.field, reason)
			}
		}
	}
	list, _ := config["allowedUnsafeSysctls"].([]any)
	for i, item := range list {
		if name, ok := item.(string); ok && !isNamespaced(name) {
			c.report(nodeconfig.Invalid, true, document.IndexPath(document.FieldPath(at, "allowedUnsafeSysctls"), i),
				"is no kernel parameter that a pod may have of its own, such as net.core.somaxconn or net.ipv4.*; the kubelet would not start")
		}
	}
	if gate, needed := NeedsQuotaGate(c.minor, config); needed {
		gates, _ := config["featureGates"].(map[string]any)
		if on, said := gates[gate]; on != true && (said || gates["AllAlpha"] != true) {
			stops(quotaPeriod, "takes the feature gate "+gate+" before Kubernetes 1."+strconv.Itoa(sinceQuota))
		}
	}
	high, low := percent(config[highThreshold], standardHigh), percent(config[lowThreshold], standardLow)
	switch {
	case high > low:
	case config[highThreshold] != nil:
		stops(highThreshold, fmt.Sprintf("want more than %s, which is %d", lowThreshold, low))
	default:
		stops(lowThreshold, fmt.Sprintf("want less than %s, which is %d", highThreshold, high))
	}
}

// laid is a configuration with the values of flags over it, and which flag gives a field.
func laid(config map[string]any, flags []nodeconfig.Flag) (map[string]any, map[string]int) {
	given := make(map[string]int)
	for i, flag := range flags {
		for _, row := range valueRows {
			if row.flag != flag.Name {
				continue
			}
			if len(given) == 0 {
				over := make(map[string]any, len(config)+len(flags))
				maps.Copy(over, config)
				config = over
			}
			given[row.field], config[row.field] = i, flag.Value
			if parses("l", flag.Value) {
				config[row.field] = json.Number(flag.Value)
			}
		}
	}
	return config, given
}

// percent is a threshold, or the kubelet's own.
func percent(v any, standard int) int {
	if n, err := strconv.Atoi(numeral(v)); err == nil {
		return n
	}
	return standard
}

func among(allowed ...string) func(any) string {
	return func(v any) string {
		if text, ok := v.(string); ok && !slices.Contains(allowed, text) {
			return "want one of " + strings.Join(allowed, ", ")
		}
		return ""
	}
}

func between(least, most int64) func(any) string {
	return func(v any) string {
		if n, err := strconv.ParseInt(numeral(v), 10, 64); err == nil && (n < least || n > most) {
			return fmt.Sprintf("want a whole number from %d to %d", least, most)
		}
		return ""
	}
}

// period is from 1 ms to 1 s.
func period(v any) string {
	text, _ := v.(string)
	if d, err := time.ParseDuration(text); err == nil && (d < time.Millisecond || d > time.Second) {
		return "want a duration from 1ms to 1s"
	}
	return ""
}

// logSize is a quantity that is a whole number: a part of a byte is none.
func logSize(v any) string {
	text, ok := v.(string)
	if ok && (!quantity(text) || strings.ContainsAny(text, "num") || strings.Contains(text, ".") && strings.HasSuffix(text, "i")) {
		return "want a size such as 50Mi, with one of the units Ki, Mi, Gi, k, M and G"
	}
	return ""
}

// The kernel's parameters that a pod can have of its own: those of namespaces for processes' messages and for networks
// (k8s.io/component-helpers node/util/sysctl).
var namespacedPrefixes = []string{"net.", "fs.mqueue.", "kernel.shm", "kernel.msg"}

const namespacedName = "kernel.sem"

// isNamespaced reports whether a kubelet takes a pattern of kernel parameters: names with dots or slashes between, the last of
// which may end with a star (k8s.io/kubernetes pkg/apis/policy/validation, IsValidSysctlPattern).
func isNamespaced(pattern string) bool {
	if !isSysctlPattern(pattern) {
		return false
	}
	name, _, _ := strings.Cut(pattern, "*")
	if i := strings.IndexAny(name, "./"); i >= 0 && name[i] == '/' {
		name = strings.ReplaceAll(name, "/", ".") // a dot behind a slash is part of an interface's name
	}
	return name == namespacedName || slices.ContainsFunc(namespacedPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func isSysctlPattern(s string) bool {
	if len(s) > 253 {
		return false
	}
	for i := strings.IndexAny(s, "./"); i >= 0; i = strings.IndexAny(s, "./") {
		if !isSysctlSegment(s[:i]) {
			return false
		}
		s = s[i+1:]
	}
	stem, star := strings.CutSuffix(s, "*")
	if !star {
		return isSysctlSegment(s)
	}
	return stem == "" || isSysctlSegment(strings.TrimRight(stem, "-_"))
}

// isSysctlSegment wants small letters, digits, dashes and underscores, with a letter or digit at both ends.
func isSysctlSegment(s string) bool {
	const ends = "abcdefghijklmnopqrstuvwxyz0123456789"
	return s != "" && strings.Trim(s, ends+"-_") == "" && strings.Contains(ends, s[:1]) && strings.Contains(ends, s[len(s)-1:])
}
