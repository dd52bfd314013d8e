package nodeconfig

import (
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/place"
)

// Repair returns all problems of a config that [Default] has completed, fatal problems first. It removes from the config every
// value with a problem that is not fatal, so that the rest is usable. A removed value may have a default, so Repair then calls
// [Default] again.
func Repair(c *NodeConfig) []Problem {
	v := new(validator)
	(&characters{validator: v}).check(reflect.ValueOf(c).Elem())
	if c.APIVersion != APIVersion {
		v.vital("$.apiVersion", fmt.Sprintf("want %q", APIVersion))
	}
	if c.Kind != Kind {
		v.vital("$.kind", fmt.Sprintf("want %q", Kind))
	}
	if c.Metadata.Revision < 0 {
		v.vital("$.metadata.revision", "is negative; use 0 or more")
	}
	v.timeout("$.checks.timeout", c.Checks.Timeout)
	v.timeout("$.checks.apiServerTimeout", c.Checks.APIServerTimeout)
	v.timeout("$.checks.changeTimeout", c.Checks.ChangeTimeout)
	checkList(v, "$.checks.allowUnapplied", &c.Checks.AllowUnapplied, func(path string) string {
		if path == "" || !isPrintable(path) {
			return "is not the path of a setting; use one such as network.localDNS"
		}
		return ""
	})
	v.additions(&c.Checks)
	v.outbound(&c.Checks)
	v.cluster(c)
	v.join(c)
	v.kubelet(&c.Kubelet)
	v.runtime(&c.Runtime)
	v.network(&c.Network)
	v.system(&c.System)
	v.access(&c.Access)
	v.surroundings(c)
	v.files(c)
	v.units(c)
	v.commands(c)
	SortProblems(v.problems)
	return v.problems
}

// validator collects problems.
type validator struct{ problems []Problem }

// unsafe records a value that is refused in every field.
func (v *validator) unsafe(path, reason string) {
	v.problems = append(v.problems, Problem{Kind: Invalid, Path: path, Reason: reason, Fatal: true})
}

// missing records that a required value is not set.
//
//go:noinline
func (v *validator) missing(path, reason string) {
	v.problems = append(v.problems, Problem{Kind: Missing, Path: path, Reason: reason, Fatal: true})
}

// invalid records a value that its field does not allow. If the field is not vital, clear removes the value.
func (v *validator) invalid(path, reason string, clear func()) {
	p := Problem{Kind: Invalid, Path: path, Reason: reason, Fatal: Vital(path)}
	if !p.Fatal {
		p.Reason += "; left out"
		clear()
	}
	v.problems = append(v.problems, p)
}

// vital records an invalid value of a vital field.
//
//go:noinline
func (v *validator) vital(path, reason string) {
	v.invalid(path, reason, func() { panic("nodeconfig: not in the table of vital fields: " + path) })
}

// naming sets the setting that the last problem's reason names.
func (v *validator) naming(setting string) {
	last := &v.problems[len(v.problems)-1]
	*last = last.Naming(setting)
}

// shortestTimeout is the shortest timeout that is not a mistake.
const shortestTimeout = Duration(time.Second)

// timeout checks that a vital timeout is long enough to do anything.
func (v *validator) timeout(path string, d Duration) {
	if d < shortestTimeout {
		v.vital(path, "is shorter than a second; use a longer one, such as 5m")
	}
}

// checkMap validates the entries of a map. check returns what is wrong with one, or "". The problems are sorted later.
func checkMap[V any](v *validator, path string, m map[string]V, check func(key string, value V) string) {
	for key, value := range m {
		if reason := check(key, value); reason != "" {
			v.invalid(document.FieldPath(path, key), reason, func() { delete(m, key) })
		}
	}
}

// checkList validates the items of a list, and removes the unusable ones.
func checkList[T any](v *validator, path string, list *[]T, check func(T) string) {
	i := -1
	*list = slices.DeleteFunc(*list, func(item T) bool {
		i++
		reason := check(item)
		if reason != "" {
			v.invalid(document.IndexPath(path, i), reason, func() {})
		}
		return reason != ""
	})
}

// characters searches a config for strings that no field allows, and for values that are not in their field's enumeration.
type characters struct {
	*validator
	at document.Path
}

// check refuses NUL and similar characters in all fields: no field needs them, and programs read a path or a line with one
// differently. The same is true for Unicode's noncharacters: systemd ignores a file's line that has one (systemd: src/basic/utf8.c,
// unichar_is_valid). The problems are sorted by path later, so the order of maps does not matter.
func (v *characters) check(value reflect.Value) {
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			v.check(value.Elem())
		}
	case reflect.Struct:
		if value.Type() == secretType {
			v.data(value.Interface())
			return
		}
		for _, f := range fieldsOf(value.Type()) {
			if f.texts {
				v.at.Enter(f.name)
				v.check(value.Field(f.index))
				v.word(value.Field(f.index), f.words)
				v.at.Leave()
			}
		}
	case reflect.Slice:
		for i := range value.Len() {
			v.at.EnterItem(i)
			v.check(value.Index(i))
			v.at.Leave()
		}
	case reflect.Map:
		switch m := value.Interface().(type) {
		case map[string]string:
			checkEntries(v, m, v.text)
		case map[string]any:
			checkEntries(v, m, v.data)
		default:
			for iter := value.MapRange(); iter.Next(); {
				v.at.Enter(iter.Key().String())
				v.text(iter.Key().String())
				entry, found := reflect.New(value.Type().Elem()).Elem(), len(v.problems)
				entry.Set(iter.Value())
				if v.check(entry); len(v.problems) > found {
					value.SetMapIndex(iter.Key(), entry) // the check may have removed a value from it
				}
				v.at.Leave()
			}
		}
	case reflect.Interface:
		v.data(value.Interface())
	case reflect.String:
		v.text(value.String())
	}
}

// word checks that a string is empty or one of an enumeration's values.
func (v *characters) word(text reflect.Value, words []string) {
	if words != nil && text.String() != "" && !slices.Contains(words, text.String()) {
		v.invalid(v.at.String(), document.WantWord(text.String(), words), text.SetZero)
	}
}

func checkEntries[V any](v *characters, m map[string]V, check func(V)) {
	for name, value := range m {
		v.at.Enter(name)
		v.text(name)
		check(value)
		v.at.Leave()
	}
}

// data is check for values in free data.
func (v *characters) data(data any) {
	switch data := data.(type) {
	case nil, bool, json.Number:
	case string:
		v.text(data)
	case Secret:
		if isRedacted(data.Reveal()) {
			v.unsafe(v.at.String(), errRedacted.Error())
		}
		v.text(data.Reveal())
	case map[string]any:
		checkEntries(v, data, v.data)
	case []any:
		for i := range data {
			v.at.EnterItem(i)
			v.data(data[i])
			v.at.Leave()
		}
	default:
		v.check(reflect.ValueOf(data))
	}
}

func (v *characters) text(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\n' && c != '\r' && c != '\t' || c >= 0x7f {
			v.unusual(s)
			return
		}
	}
}

// unusual checks a string that has other characters than ASCII's letters and signs.
func (v *characters) unusual(s string) {
	for _, r := range s {
		switch {
		case unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' || r == unicode.ReplacementChar:
			v.unsafe(v.at.String(), fmt.Sprintf("contains the control character %U; remove it", r))
			return
		case unicode.Is(unicode.Noncharacter_Code_Point, r):
			v.unsafe(v.at.String(), fmt.Sprintf("contains %U, which is not a character in Unicode; remove it", r))
			return
		}
	}
}

// checkAbsolute returns what is wrong with a path.
func checkAbsolute(p string) string {
	switch {
	case !path.IsAbs(p):
		return "must be an absolute path"
	case path.Clean(p) != p:
		return "must be a path without . or .. or double slashes"
	case !isPrintable(p) || strings.ContainsAny(p, `"'\%$`):
		return "must be a path of letters, digits and . _ - / only"
	}
	return ""
}

// singleLine returns what is wrong with a value that will be on one line of a file.
func singleLine(s string) string {
	if strings.ContainsAny(s, "\r\n") {
		return "has a line break"
	}
	return ""
}

// maxAdditions is the limit for the paths at which other programs may add files.
const maxAdditions = 32

// additions validates the paths at which other programs may add files.
func (v *validator) additions(c *Checks) {
	const path = "$.checks.allowAdditions"
	if len(c.AllowAdditions) > maxAdditions {
		v.invalid(path, fmt.Sprintf("has more than %d paths", maxAdditions), func() { c.AllowAdditions = nil })
		return
	}
	checkList(v, path, &c.AllowAdditions, place.CheckAddition)
}

// maxOutbound limits the servers that a node must reach: the node connects to all at the same time.
const maxOutbound = 16

// outbound validates the servers that the node must reach. Which command AKS's scripts accept is up to them; the planner decides
// what Slipway accepts.
func (v *validator) outbound(c *Checks) {
	if len(c.Outbound) > maxOutbound {
		v.invalid("$.checks.outbound", fmt.Sprintf("has more than %d servers", maxOutbound), func() { c.Outbound = nil })
		return
	}
	seen := make(map[string]bool)
	checkList(v, "$.checks.outbound", &c.Outbound, func(server string) string {
		name := strings.TrimSuffix(server, ":443")
		switch {
		case !isHostPort(server) || len(server) > maxRegistryName:
			return "is not a server, such as registry.k8s.io or registry.example:5000"
		case seen[name]:
			return "is there twice"
		}
		seen[name] = true
		return ""
	})
}
