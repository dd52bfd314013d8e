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
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/internal/quantity"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Settings are a kubelet's configuration and flags, and its machine.
type Settings struct {
	// Minor is the kubelet's version.
	Minor int
	// Config is the configuration file, at the path At of the author's document. It is nil for a kubelet without a file.
	Config map[string]any
	At     string
	// Flags are the flags of its command line, in their order. They win over the file.
	Flags   []Flag
	Machine Machine
}

// Flag is a kubelet flag, by its name without leading dashes, at a path of the author's document. At is "" if the author has not
// set it.
type Flag struct{ At, Name, Value string }

// Machine is the known properties of the machine. 0 means unknown: no rule then uses the property.
type Machine struct {
	CPUs        int
	MemoryBytes int64
	// CgroupVersion is the version of the control groups, 1 or 2.
	CgroupVersion int
}

// Check returns the settings that a kubelet would not accept. Fatal are a value of a wrong type, a value that the kubelet refuses,
// an unknown feature gate and an unknown flag, because the kubelet does not start with them. An unknown field is a warning: the
// kubelet ignores it (k8s.io/kubernetes pkg/kubelet/kubeletconfig/util/codec: strict decoding falls back to lenient), and a node
// must start even if its control plane is newer than its image. A flag that only other versions have is a warning, too: it is left
// out (LeftOut).
func Check(s Settings) []nodeconfig.Problem {
	c := newChecker(s.Minor)
	c.object(s.At, "KubeletConfiguration", s.Config)
	j := &judge{checker: c, rules: kubeletRules(), config: s.Config, at: s.At, machine: s.Machine, over: make(map[string]value)}
	for _, d := range flagDefaults {
		if s.Config == nil && c.enabled(nil, d.gate) {
			j.over[d.field] = value{v: d.value}
		}
	}
	for _, f := range s.Flags {
		c.flag(j, f)
	}
	j.judgeGates()
	j.judge()
	return c.result(s.At)
}

// flagDefaults are the defaults of a kubelet without a configuration file that differ from those with one
// (cmd/kubelet/app/options/options.go: applyLegacyDefaults). Without a file it also has no hard eviction thresholds, because
// server.go, loadConfigFile, sets those. Defaults that depend on a feature gate are set before the flags are read
// (pkg/kubelet/apis/config/v1beta1/defaults.go).
var flagDefaults = [...]struct {
	field, gate string
	value       any
}{
	{"authentication.anonymous.enabled", "", true},
	{"authentication.webhook.enabled", "", false},
	{"authorization.mode", "", "AlwaysAllow"},
	{"crashLoopBackOff.maxContainerRestartPeriod", backOffGate, "300s"},
	{"evictionHard", "", map[string]any(nil)},
	{"imagePullCredentialsVerificationPolicy", secrets, "NeverVerifyPreloadedImages"},
	{"readOnlyPort", "", json.Number("10255")},
}

// CredentialProvider returns what a kubelet would not accept in the configuration of its image credential provider, which is at a
// path. The feature gates are those of the settings. Since 1.32 each unknown name is fatal here
// (pkg/credentialprovider/plugin/plugin.go: serializer.EnableStrict).
func CredentialProvider(s Settings, at string, config map[string]any) []nodeconfig.Problem {
	c := newChecker(s.Minor)
	c.strict = s.Minor >= 32
	c.object(at, "CredentialProviderConfig", config)
	j := &judge{checker: c, rules: providerRules(), config: config, at: at}
	gates := &judge{checker: newChecker(s.Minor), config: s.Config, at: s.At}
	for _, f := range s.Flags {
		gates.checker.flag(gates, f)
	}
	j.gates = gates.gates
	j.gates.addFile(s.Config)
	j.judge()
	return c.result(at)
}

// checker collects what a kubelet would not accept.
type checker struct {
	*table
	problem.Collector
	minor  int
	strict bool
	// unknown is the number of unknown names. stops reports whether the kubelet would not start because of one that is only
	// counted.
	unknown int
	stops   bool
}

func newChecker(minor int) *checker { return &checker{table: known(), minor: minor} }

// result returns the problems. If there are more unknown names than [document.MaxUnknown], it adds their number, at a path.
func (c *checker) result(at string) []nodeconfig.Problem {
	if more := c.unknown - document.MaxUnknown; more > 0 {
		reason := fmt.Sprintf("has %d more names that this node's kubelet does not know", more)
		if c.stops {
			reason += "; it would not start"
		}
		return append(slices.Clone(c.List), nodeconfig.Problem{Kind: nodeconfig.Unknown, Path: at, Reason: reason, Fatal: c.stops})
	}
	return c.List
}

// unknownName reports a name that a section of the table does not have, with the most similar known name.
func (c *checker) unknownName(fatal bool, at, reason, section, owner, name string, p presence) {
	if c.unknown++; c.unknown > document.MaxUnknown {
		c.stops = c.stops || fatal
		return
	}
	if !p.elsewhere {
		reason += c.nearest(section, owner, name, c.clamp(c.minor))
	}
	c.Report(fatal, nodeconfig.Unknown, at, reason)
}

// object checks the fields of a struct.
func (c *checker) object(at, name string, values map[string]any) {
	for _, field := range slices.Sorted(maps.Keys(values)) {
		here := document.FieldPath(at, field)
		p := c.find(c.fields, name, field, "field", c.minor)
		switch {
		case p.kind == "" && c.strict && c.minor <= c.newest:
			c.unknownName(true, here, p.why+"; this node's kubelet would not start", c.fields, name, field, p)
		case p.kind == "":
			c.unknownName(false, here, p.why+"; this node's kubelet ignores it", c.fields, name, field, p)
		case name == "KubeletConfiguration" && field == "featureGates":
			c.gateMap(here, values[field])
		default:
			c.value(here, p.kind, values[field])
		}
	}
}

// gateMap checks the feature gates of a configuration.
func (c *checker) gateMap(at string, value any) {
	gates, ok := value.(map[string]any)
	if !ok {
		c.value(at, "{}b", value)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		here := document.FieldPath(at, name)
		c.gate(here, name)
		c.value(here, "b", gates[name])
	}
}

// gate checks that the kubelet knows a feature gate: with an unknown one it ends at once (component-base, featuregate:
// "unrecognized feature gate"). The gates of versions newer than the table are unknown here.
func (c *checker) gate(at, name string) {
	if p := c.find(c.gates, "", name, "feature gate", c.minor); p.kind == "" {
		fatal := c.minor <= c.newest
		reason := p.why
		if fatal {
			reason += "; this node's kubelet would not start"
		}
		c.unknownName(fatal, at, reason, c.gates, "", name, p)
	}
}

// value checks a value against its kind in the table.
func (c *checker) value(at, kind string, value any) {
	switch {
	case value == nil && kind != "d": // as if it were absent; a duration that is not a pointer reads null as a string
		return
	case strings.HasPrefix(kind, "."):
		if fields, ok := value.(map[string]any); ok {
			c.object(at, kind[1:], fields)
			return
		}
	case strings.HasPrefix(kind, "[]"):
		if items, ok := value.([]any); ok {
			for i, item := range items {
				c.value(document.IndexPath(at, i), kind[2:], item)
			}
			return
		}
	case strings.HasPrefix(kind, "{}"):
		if values, ok := value.(map[string]any); ok {
			for _, name := range slices.Sorted(maps.Keys(values)) {
				c.value(document.FieldPath(at, name), kind[2:], values[name])
			}
			return
		}
	case kind == "x": // a duration string, or a number of nanoseconds
		if text, isText := value.(string); isText && parses("d", text) || !isText && parses("l", numeral(value)) {
			return
		}
	default:
		if scalar(kind, value) {
			return
		}
	}
	c.Report(true, nodeconfig.WrongType, at, "want "+inWords(kind)+"; the kubelet would not start")
}

// inWords describes a kind of value.
func inWords(kind string) string {
	switch {
	case kind == "{}<":
		return "names and values, such as memory.available<100Mi"
	case len(kind) == 3 && kind[:2] == "{}" && strings.Contains("=1:", kind[2:]):
		return "names and values, such as a" + strings.Replace(kind[2:], "1", "=", 1) + "b"
	case strings.HasPrefix(kind, "."), strings.HasPrefix(kind, "{}"):
		return "a map"
	case strings.HasPrefix(kind, "[]"):
		return "a list"
	}
	return map[string]string{
		"s": "text", "b": "true or false", "i": "a whole number of 32 bits", "l": "a whole number", "u": "a whole number that is not negative",
		"f": "a number", "ip": "an IP address", "taints": "taints such as key=value:NoSchedule",
		"n": "a whole number that is not negative", "vmodule": "files and verbosities, such as file=3",
		"memory": "memory of NUMA nodes, such as 0:memory=1Gi", "d": `a duration such as "30s"`, "t": `a time such as "2026-01-02T15:04:05Z"`, "D": `a duration such as "30s"`, "x": `a duration such as "5s", or a number of nanoseconds`, "q": `a quantity such as "100Mi"`,
	}[kind]
}

// scalar reports whether a single value has a kind, as when JSON is decoded into a Go type.
func scalar(kind string, value any) bool {
	text, isText := value.(string)
	switch kind {
	case "D":
		return isText && parses("d", text)
	case "t":
		_, err := time.Parse(time.RFC3339, text)
		return isText && err == nil
	case "s":
		return isText
	case "b":
		_, ok := value.(bool)
		return ok
	case "d":
		return isText && parses("d", text)
	case "q":
		if !isText {
			text = numeral(value)
		}
		_, ok := quantity.Parse(strings.TrimSpace(text))
		return ok
	}
	n := numeral(value)
	return n != "" && parses(kind, n)
}

// numeral returns a number as JSON writes it, or "" for any other value.
func numeral(value any) string {
	switch n := value.(type) {
	case json.Number:
		return n.String()
	case int:
		return strconv.Itoa(n)
	case int32:
		return strconv.FormatInt(int64(n), 10)
	case int64:
		return strconv.FormatInt(n, 10)
	case float64:
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return ""
}

// parses reports whether a string is a value of a kind.
func parses(kind, text string) bool {
	var err error
	switch kind {
	case "b":
		_, err = strconv.ParseBool(text)
	case "i":
		_, err = strconv.ParseInt(text, 0, 32)
	case "l":
		_, err = strconv.ParseInt(text, 0, 64)
	case "u":
		_, err = strconv.ParseUint(text, 0, 32)
	case "f":
		_, err = strconv.ParseFloat(text, 64)
	case "d":
		_, err = time.ParseDuration(text)
	}
	return err == nil
}
