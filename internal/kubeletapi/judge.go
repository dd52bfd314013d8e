package kubeletapi

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// QuotaGate returns the feature gate that a kubelet of a minor version needs for a quota's period, or "".
func QuotaGate(minor int, period string) string {
	d, err := time.ParseDuration(period)
	if c := newChecker(minor); err == nil && d != 100*time.Millisecond && !c.enabled(nil, quotaGate) {
		return quotaGate
	}
	return ""
}

// judge checks settings against rules.
type judge struct {
	checker *checker
	rules   *ruleSet
	config  map[string]any
	at      string
	// over are the flags' values, by the fields that they set. A flag without a field is under its name with dashes.
	over    map[string]value
	gates   givenGates
	machine Machine
	// reports is true if violations are reported, so that paths are needed.
	reports bool
}

// value is a setting's value. v is nil if it is not set.
type value struct {
	v any
	// at is the value's path in the document.
	at string
	// name is its key in the map that contains it, and in is that map.
	name string
	in   map[string]any
	// flag is the name of the flag that sets it. Empty means the file.
	flag string
}

// noFields is the map for a value that is not in a map.
var noFields = make(map[string]any)

// check reports whether a kubelet accepts a value.
type check func(j *judge, r *rule, v value) bool

// judge checks all settings against their rules.
func (j *judge) judge() {
	var marked [256]bool
	mark := func(name string) {
		for _, i := range j.rules.byField[name] {
			marked[i] = true
		}
	}
	for name, v := range j.config {
		if v != nil {
			mark(name)
		}
	}
	for field := range j.over {
		mark(first(field))
	}
	for _, i := range j.rules.needed {
		marked[i] = true
	}
	for i := range j.rules.rows {
		if marked[i] {
			j.apply(&j.rules.rows[i])
		}
	}
}

// apply checks the settings against a rule. To be fast, it looks up feature gates and writes paths only after a violation.
func (j *judge) apply(r *rule) {
	minor := j.checker.clamp(j.checker.minor)
	switch {
	case r.since > minor, r.until != 0 && r.until < minor:
	case j.walk(r, value{v: j.config}, "", r.field):
	case r.on != "" && !j.checker.enabled(j.gates, r.on), r.off != "" && j.checker.enabled(j.gates, r.off):
	default:
		j.reports = true
		j.walk(r, value{v: j.config, at: j.at}, "", r.field)
		j.reports = false
	}
}

// walk checks each value that a field path leads to from another value, and reports whether all satisfy the rule.
func (j *judge) walk(r *rule, v value, above, field string) bool {
	if field == "" {
		taken := r.check(j, r, v)
		if !taken && j.reports {
			j.report(r, v)
		}
		return taken
	}
	name, field, _ := strings.Cut(field, ".")
	path := above + name
	if next, ok := j.over[path]; ok {
		return j.walk(r, next, path+".", field)
	}
	all := true
	switch of := v.v.(type) {
	case map[string]any:
		if name != "*" {
			return j.walk(r, value{v: of[name], name: name, in: of, flag: v.flag, at: j.below(v, name)}, path+".", field)
		}
		for _, name := range slices.Sorted(maps.Keys(of)) {
			all = j.walk(r, value{v: of[name], name: name, in: of, flag: v.flag, at: j.below(v, name)}, path+".", field) && all
		}
	case []any:
		if name != "*" {
			return true
		}
		for i := range of {
			item := value{v: of[i], flag: v.flag, at: v.at}
			if of[i] == nil && field != "" {
				item.v = noFields // encoding/json: null in a list of structs is a struct without values
			}
			if j.reports && v.flag == "" {
				item.at = document.IndexPath(v.at, i)
			}
			all = j.walk(r, item, path+".", field) && all
		}
	case nil:
		if name != "*" && !strings.Contains(above, "*") {
			return j.walk(r, value{name: name, in: noFields, at: j.below(v, name)}, path+".", field)
		}
	}
	return all
}

// below returns the path of a value inside another one; for a flag's value it is the flag's path.
func (j *judge) below(v value, name string) string {
	if !j.reports || v.flag != "" {
		return v.at
	}
	return document.FieldPath(v.at, name)
}

// get returns the value of a field.
func (j *judge) get(field string) value {
	v := value{v: j.config, at: j.at}
	for rest, path := field, ""; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, ".")
		if path += name; j.over != nil {
			if of, ok := j.over[path]; ok {
				v = of
				path += "."
				continue
			}
		}
		in, _ := v.v.(map[string]any)
		v = value{v: in[name], name: name, in: in, flag: v.flag, at: j.below(v, name)}
		path += "."
	}
	return v
}

// report reports a value that violates a rule. If the rule concerns several settings, it reports one that is set. A value of a
// wrong type is reported already.
func (j *judge) report(r *rule, v value) {
	if !v.isGiven() {
		others := j.others(r)
		if i := slices.IndexFunc(others, value.isGiven); i >= 0 {
			v.at, v.flag = others[i].at, others[i].flag
		} else if at := j.gates.at(r.on, r.off); v.at == "" && at != "" {
			v.at = at
		}
	}
	if slices.ContainsFunc(j.checker.List, func(p nodeconfig.Problem) bool { return p.Path == v.at && p.Kind == nodeconfig.WrongType }) {
		return
	}
	reason := r.reason()
	if text, isText := v.v.(string); isText && r.words != "" && r.want == "" && r.off == "" {
		reason = document.WantWord(text, strings.Fields(r.words))
	}
	if v.flag != "" {
		reason = "--" + v.flag + ": " + reason
	}
	if !r.ignored {
		reason += "; the kubelet would not start"
	}
	kind := nodeconfig.Invalid
	if v.v == nil && strings.HasPrefix(r.want, "is missing") {
		kind = nodeconfig.Missing
	}
	j.checker.Report(!r.ignored, kind, v.at, reason)
}

// isGiven reports whether the author has set a value. It needs paths.
func (v value) isGiven() bool { return v.v != nil && v.at != "" }

// reason returns what a rule requires.
func (r *rule) reason() string {
	switch {
	case r.want != "":
		return r.want
	case r.off != "":
		return "takes the feature gate " + r.off
	case r.words != "":
		return "want one of " + strings.ReplaceAll(r.words, " ", ", ")
	case r.most == most32 || r.most > 1<<32:
		return "want at least " + strconv.FormatInt(r.least, 10)
	}
	return fmt.Sprintf("want a whole number from %d to %d", r.least, r.most)
}
