package kubeletapi

import (
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

// Twice returns the settings of an author over which another setting of the same author wins: a flag wins over the configuration's
// field that it sets (cmd/kubelet/app/server.go: kubeletConfigFlagPrecedence), and the last flag of a name wins over the others,
// unless the kubelet adds up their values. Values with the same meaning are no problem. Flags without a path are not the author's.
func Twice(s Settings) []nodeconfig.Problem {
	var found problem.Collector
	c := newChecker(s.Minor)
	type given struct {
		at string
		v  any
	}
	last := make(map[string]given) // by the flag's name, and for maps by that and the key
	set := func(name string, g given) {
		if before, ok := last[name]; ok && !same(before.v, g.v) {
			found.Warn(nodeconfig.Dropped, before.at, "--%s is not used: %s gives it again with another value, and the kubelet takes the last", flagOf(name), problem.Setting(g.at))
		}
		last[name] = g
	}
	for _, f := range s.Flags {
		name := flagName(f.Name)
		p := c.find(c.flags, "", name, "flag", c.minor)
		if f.At == "" || p.kind == "" || name == "feature-gates" {
			continue
		}
		v, ok := flagValue(p.kind, f.Value, nil)
		pairs, isMap := v.(map[string]any)
		switch {
		case !ok, p.kind == "[]", p.kind == "memory", p.kind == "vmodule":
		case isMap:
			for _, key := range slices.Sorted(maps.Keys(pairs)) {
				set(name+" "+key, given{f.At, pairs[key]})
			}
		default:
			set(name, given{f.At, v})
		}
	}
	c.overFile(s, &found)
	return found.List
}

// flagOf returns the name of a flag, without the key of its map.
func flagOf(name string) string {
	name, _, _ = strings.Cut(name, " ")
	return name
}

// overFile reports fields of the file over which flags win.
func (c *checker) overFile(s Settings, found *problem.Collector) {
	j := &judge{checker: newChecker(s.Minor), over: make(map[string]value)}
	for _, f := range s.Flags {
		if f.At != "" {
			j.checker.flag(j, f)
		}
	}
	report := func(field []string, flag, at string, have any) {
		path := s.At
		for _, name := range field {
			path = document.FieldPath(path, name)
		}
		if v := fieldOf(s.Config, field); v != nil && !isNoSetting(v) && !same(v, have) {
			found.Warn(nodeconfig.Dropped, path, "is not used: %s gives --%s, which goes before the configuration file; give it in one place", problem.Setting(at), flag)
		}
	}
	for _, field := range slices.Sorted(maps.Keys(j.over)) {
		if v := j.over[field]; !strings.HasPrefix(field, "--") && field != "logging.vmodule" { // vmoduleOf: the flag adds to it
			report(strings.Split(field, "."), v.flag, v.at, v.v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(j.gates)) {
		report([]string{"featureGates", name}, "feature-gates", j.gates[name].at, j.gates[name].on)
	}
}

func fieldOf(config map[string]any, names []string) (v any) {
	v = config
	for _, name := range names {
		fields, _ := v.(map[string]any)
		v = fields[name]
	}
	return v
}

// isNoSetting reports whether a value in the file leaves the kubelet's default: an empty string or list, or a duration of zero.
func isNoSetting(v any) bool {
	list, isList := v.([]any)
	text, isText := v.(string)
	d, err := time.ParseDuration(text)
	return isList && len(list) == 0 || isText && (text == "" || err == nil && d == 0 && text != "0")
}

// same reports whether two values have the same meaning for a kubelet.
func same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, same)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	}
	one, other := value{v: a}.text(), value{v: b}.text()
	if one == other {
		return true
	}
	d, bad := time.ParseDuration(one)
	e, worse := time.ParseDuration(other)
	if bad == nil && worse == nil {
		return d == e
	}
	if q, ok := quantity.Parse(one); ok { // 2000m is 2
		r, ok := quantity.Parse(other)
		return ok && q.Cmp(&r) == 0
	}
	on, err := strconv.ParseBool(one)
	off, no := strconv.ParseBool(other)
	return err == nil && no == nil && on == off
}
