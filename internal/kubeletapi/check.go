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

// Config returns what a kubelet of a minor version would not take of a KubeletConfiguration that is at a path.
// A value of a wrong type is fatal, because the kubelet does not start with it, and so is one that it refuses, and a feature gate
// that it does not know. A field that it does not know is a warning: the kubelet leaves it out (k8s.io/kubernetes
// pkg/kubelet/kubeletconfig/util/codec: strict decoding falls back to lenient), and a control plane that is
// newer than the node's image is no reason for a node that does not start.
func Config(minor int, at string, config map[string]any) []nodeconfig.Problem {
	c := New(minor)
	c.object(at, "KubeletConfiguration", config)
	c.values(at, config)
	return c.Problems(at)
}

// Checker collects what a kubelet would not take.
type Checker struct {
	*table
	minor    int
	problems []nodeconfig.Problem
	// unknown counts the names that are not known, and stops says that the kubelet would not start with one of
	// those that are only counted.
	unknown int
	stops   bool
}

// New returns a checker for a kubelet of a minor version.
func New(minor int) *Checker { return &Checker{table: known(), minor: minor} }

// Problems returns what was found. Of more unknown names than [document.MaxUnknown] the number is told, at a path.
func (c *Checker) Problems(at string) []nodeconfig.Problem {
	if more := c.unknown - document.MaxUnknown; more > 0 {
		reason := fmt.Sprintf("has %d more names that this node's kubelet does not know", more)
		if c.stops {
			reason += "; it would not start"
		}
		return append(slices.Clone(c.problems), nodeconfig.Problem{Kind: nodeconfig.Unknown, Path: at, Reason: reason, Fatal: c.stops})
	}
	return c.problems
}

// unknownName reports a name that is none of those of spans, and what was probably meant.
func (c *Checker) unknownName(fatal bool, at, reason, name string, spans map[string][]span, p presence) {
	if c.unknown++; c.unknown > document.MaxUnknown {
		c.stops = c.stops || fatal
		return
	}
	if !p.elsewhere {
		reason += nearest(spans, name, c.clamp(c.minor))
	}
	c.report(nodeconfig.Unknown, fatal, at, reason)
}

func (c *Checker) report(kind nodeconfig.ProblemKind, fatal bool, at, reason string) {
	c.problems = append(c.problems, nodeconfig.Problem{Kind: kind, Path: at, Reason: reason, Fatal: fatal})
}

// object checks the fields of a struct.
func (c *Checker) object(at, name string, values map[string]any) {
	for _, field := range slices.Sorted(maps.Keys(values)) {
		here := document.FieldPath(at, field)
		p := c.find(c.fields[name], field, "field", c.minor)
		switch {
		case p.kind == "":
			c.unknownName(false, here, p.why+"; this node's kubelet ignores it", field, c.fields[name], p)
		case name == "KubeletConfiguration" && field == "featureGates":
			c.gateMap(here, values[field])
		default:
			c.value(here, p.kind, values[field])
		}
	}
}

// gateMap checks the feature gates of a configuration.
func (c *Checker) gateMap(at string, value any) {
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

// gate wants a feature gate that the kubelet knows: with any other it ends at once (component-base,
// featuregate: "unrecognized feature gate"). What a version has that is newer than the table is not known.
func (c *Checker) gate(at, name string) {
	if p := c.find(c.gates, name, "feature gate", c.minor); p.kind == "" {
		fatal := c.minor <= c.newest
		reason := p.why
		if fatal {
			reason += "; this node's kubelet would not start"
		}
		c.unknownName(fatal, at, reason, name, c.gates, p)
	}
}

// value checks a value against the kind that the table has of it.
func (c *Checker) value(at, kind string, value any) {
	if value == nil {
		return // as if it were not there
	}
	switch {
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
	case kind == "x":
		return
	default:
		if scalar(kind, value) {
			return
		}
	}
	c.report(nodeconfig.WrongType, true, at, "want "+inWords(kind)+"; the kubelet would not start")
}

// inWords names a kind of value.
func inWords(kind string) string {
	switch {
	case strings.HasPrefix(kind, "."), strings.HasPrefix(kind, "{}"):
		return "a map"
	case strings.HasPrefix(kind, "[]"):
		return "a list"
	}
	return map[string]string{
		"s": "text", "b": "true or false", "i": "a whole number of 32 bits", "l": "a whole number", "u": "a whole number that is not negative",
		"f": "a number", "d": `a duration such as "30s"`, "q": `a quantity such as "100Mi"`,
	}[kind]
}

// scalar reports whether a single value is of a kind, as JSON is decoded into Go's type.
func scalar(kind string, value any) bool {
	text, isText := value.(string)
	switch kind {
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
		return quantity(text)
	}
	n := numeral(value)
	return n != "" && parses(kind, n)
}

// numeral is a number as it is written in JSON, or "" for what is none.
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

// parses reports whether a text is a value of a kind.
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

// suffixes are those of a quantity (apimachinery, resource.Quantity).
var suffixes = []string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "n", "u", "m", "k", "M", "G", "T", "P", "E"}

func quantity(text string) bool {
	for _, suffix := range suffixes {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			text = rest
			break
		}
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil && strings.Trim(text, "+-.eE0123456789") == ""
}

// Flag checks a flag that is at a path, and reports whether it is left out: one that only other versions have is,
// with a warning. One that no version has is fatal, and so is a value that the flag
// does not take: the kubelet would not start.
func (c *Checker) Flag(at, name, value string) (leftOut bool) {
	name = strings.ReplaceAll(name, "_", "-") // as the kubelet does
	p := c.find(c.flags, name, "flag", c.minor)
	switch {
	case p.kind == "" && p.elsewhere:
		c.report(nodeconfig.Dropped, false, at, "--"+name+" is left out: "+p.why)
		return true
	case p.kind == "" && c.minor > c.newest:
		c.unknownName(false, at, "--"+name+": "+p.why, name, c.flags, p)
	case p.kind == "":
		c.unknownName(true, at, "--"+name+": "+p.why+"; this node's kubelet would not start", name, c.flags, p)
	case name == "feature-gates":
		c.gateFlag(at, value)
	case p.kind != "s" && !parses(p.kind, value):
		c.report(nodeconfig.WrongType, true, at, "--"+name+": want "+inWords(p.kind)+"; the kubelet would not start")
	}
	return false
}

// gateFlag checks the gates of a flag: "A=true,B=false".
func (c *Checker) gateFlag(at, value string) {
	for pair := range strings.SplitSeq(value, ",") {
		if pair == "" {
			continue
		}
		name, state, _ := strings.Cut(pair, "=")
		if name = strings.TrimSpace(name); !parses("b", strings.TrimSpace(state)) {
			c.report(nodeconfig.Invalid, true, at, "--feature-gates: must be names and values, such as A=true,B=false; the kubelet would not start")
			return
		}
		c.gate(at, name)
	}
}
