package kubeletapi

import (
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// valueRow is a value of a configuration that is of its type, and that a kubelet does not start with all the same.
type valueRow struct {
	field string
	// least and most are of a number, or of a duration in nanoseconds. Without them the words count that want lists.
	least, most int64
	// want is what is wanted in the place of another value.
	want string
}

// Rows that are looked at in more ways than one.
const (
	rowHigh = iota
	rowLow
	rowPeriod
	rowLogSize
)

// valueRows are all of them (k8s.io/kubernetes v1.36.3 pkg/kubelet/apis/config/validation; containers' logs: pkg/kubelet/logs,
// NewContainerLogManager; processors: pkg/kubelet/cm/cpumanager, NewManager). They are plain data, and one function checks them: more
// functions would make the agent larger.
var valueRows = [...]valueRow{
	rowHigh:    {"imageGCHighThresholdPercent", 0, 100, "want a whole number from 0 to 100"},
	rowLow:     {"imageGCLowThresholdPercent", 0, 100, "want a whole number from 0 to 100"},
	rowPeriod:  {"cpuCFSQuotaPeriod", int64(time.Millisecond), int64(time.Second), "want a duration from 1ms to 1s"},
	rowLogSize: {"containerLogMaxSize", 0, 0, "want a size such as 50Mi, with one of the units Ki, Mi, Gi, k, M and G"},
	{"containerLogMaxFiles", 2, 1<<31 - 1, "want at least 2"},
	{"cpuManagerPolicy", 0, 0, "want one of none, static"},
	{"topologyManagerPolicy", 0, 0, "want one of none, best-effort, restricted, single-numa-node"},
}

// A quota's period that is not the usual one takes a feature gate, which is on from a minor on.
const (
	quotaGate   = "CustomCPUCFSQuotaPeriod"
	sinceQuota  = 36
	usualPeriod = int64(100 * time.Millisecond)
)

// QuotaGate is the feature gate that a kubelet of a minor needs for a quota's period; empty for none.
func QuotaGate(minor int, period string) string {
	if d, err := time.ParseDuration(period); err == nil && int64(d) != usualPeriod && minor < sinceQuota {
		return quotaGate
	}
	return ""
}

// values checks the values of a configuration. One of a wrong type is reported elsewhere.
func (c *Checker) values(at string, config map[string]any) {
	thresholds := [...]int64{rowHigh: 85, rowLow: 80} // the kubelet's own (v1beta1 defaults)
	gates, _ := config["featureGates"].(map[string]any)
	for i := range valueRows {
		row := &valueRows[i]
		text, isText := config[row.field].(string)
		if !isText {
			text = numeral(config[row.field])
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if d, no := time.ParseDuration(text); no == nil {
			n, err = int64(d), nil
		}
		wrong := ""
		switch {
		case text == "":
		case row.most > 0 && err != nil, row.most == 0 && !isText:
		case row.most > 0 && (n < row.least || n > row.most),
			i == rowLogSize && (!quantity(text) || strings.ContainsAny(text, "num") || strings.Contains(text, ".") && strings.HasSuffix(text, "i")), // no part of a byte
			row.most == 0 && i != rowLogSize && !strings.Contains(row.want+",", " "+text+","):
			wrong = row.want
		case i == rowPeriod && n != usualPeriod && c.minor < sinceQuota && gates[quotaGate] != true && gates["AllAlpha"] != true:
			wrong = "takes the feature gate " + quotaGate + " before Kubernetes 1.36"
		case i <= rowLow:
			thresholds[i] = n
		}
		c.refuses(wrong, at, row.field)
	}
	switch high := valueRows[rowHigh].field; {
	case thresholds[rowHigh] > thresholds[rowLow]:
	case config[high] != nil:
		c.refuses("want more than imageGCLowThresholdPercent, which is 80 if it is not given", at, high)
	default:
		c.refuses("want less than imageGCHighThresholdPercent, which is 85 if it is not given", at, valueRows[rowLow].field)
	}
	list, _ := config["allowedUnsafeSysctls"].([]any)
	for i := range list {
		if name, ok := list[i].(string); ok && !isNamespaced(name) {
			c.refuses("is no kernel parameter that a pod may have of its own, such as net.core.somaxconn or net.ipv4.*", at, document.IndexPath("allowedUnsafeSysctls", i))
		}
	}
}

// refuses reports what is wrong with a field, if anything is.
func (c *Checker) refuses(wrong, at, field string) {
	if wrong != "" {
		c.report(nodeconfig.Invalid, true, at+"."+field, wrong+"; the kubelet would not start")
	}
}

// isNamespaced reports whether a kubelet takes a pattern of kernel parameters: names with dots or slashes between, the last of
// which may end with a star (k8s.io/kubernetes pkg/apis/policy/validation, IsValidSysctlPattern), of what the kernel has for a group
// of processes by itself (k8s.io/component-helpers node/util/sysctl).
func isNamespaced(pattern string) bool {
	last := byte('.')
	for i := range len(pattern) {
		between := last == '.' || last == '/'
		switch b := pattern[i]; {
		case b >= 'a' && b <= 'z', b >= '0' && b <= '9':
		case (b == '-' || b == '_') && !between:
		case (b == '.' || b == '/') && !between && last != '-' && last != '_':
		case b == '*' && i == len(pattern)-1:
		default:
			return false
		}
		last = pattern[i]
	}
	if len(pattern) > 253 || strings.IndexByte("./-_", last) >= 0 {
		return false
	}
	name := strings.ReplaceAll(strings.TrimSuffix(pattern, "*"), "/", ".")
	return strings.HasPrefix(name, "net.") || strings.HasPrefix(name, "fs.mqueue.") || strings.HasPrefix(name, "kernel.shm") ||
		strings.HasPrefix(name, "kernel.msg") || name == "kernel.sem"
}
