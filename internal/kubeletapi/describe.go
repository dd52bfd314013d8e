package kubeletapi

import (
	"fmt"
	"strings"
)

// Setting is what there is to say of a setting to a person who has no kubelet of a certain version in mind.
type Setting struct {
	// Takes says which values it takes, and in which versions.
	Takes string
	// Unknown says why there is no such setting, and what was probably meant; empty for one that there is.
	Unknown string
}

// DescribeField describes the field of a KubeletConfiguration at the end of names; an item of a list has the name "".
func DescribeField(names []string) Setting {
	s, _ := known().follow(names)
	return s
}

// Inside is what is inside a field of a KubeletConfiguration.
type Inside int

// What is inside a field.
const (
	// Other is fields of its own, nothing, or not known.
	Other Inside = iota
	// Items are those of a list.
	Items
	// Values are single values, with names that the document's author gives them.
	Values
)

// InsideField says what is inside the field at the end of names, as DescribeField takes them.
func InsideField(names []string) Inside {
	s, kind := known().follow(names)
	one, isMap := strings.CutPrefix(kind, "{}")
	switch {
	case s.Unknown != "":
		return Other
	case strings.HasPrefix(kind, "[]"):
		return Items
	case isMap && len(one) == 1:
		return Values
	}
	return Other
}

// Durations are the fields of a KubeletConfiguration that are durations, with dots between their names. Those of items of lists are not
// among them.
func Durations() []string { return known().durations("KubeletConfiguration", "") }

// durations are those of a struct, whose path is above with a dot.
func (t *table) durations(owner, above string) (all []string) {
	for line := range strings.SplitSeq(t.fields, "\n") {
		name, rest, _ := strings.Cut(strings.TrimPrefix(line, owner+" "), " ")
		if !strings.HasPrefix(line, owner+" ") {
			continue
		}
		switch kind := t.span(rest).kind; {
		case strings.EqualFold(kind, "d"):
			all = append(all, above+name)
		case strings.HasPrefix(kind, "."):
			all = append(all, t.durations(kind[1:], above+name+".")...)
		}
	}
	return all
}

// follow goes along names from a KubeletConfiguration, and returns what there is to say of the field at their end,
// and its kind.
func (t *table) follow(names []string) (_ Setting, kind string) {
	kind, versions := ".KubeletConfiguration", ""
	for i, name := range names {
		switch owner, isStruct := strings.CutPrefix(kind, "."); {
		case isStruct:
			s, newest := t.describe(t.fields, owner, name, "field")
			if s.Unknown != "" {
				return s, ""
			}
			kind = newest.kind
			if newest.versions != "" {
				versions = newest.versions
			}
		case i == 1 && names[0] == "featureGates":
			s, gate := t.describe(t.gates, "", name, "feature gate")
			if s.Unknown == "" {
				s.Takes = inWords("b") + gate.versions
			}
			return s, ""
		case strings.HasPrefix(kind, "[]") == (name == "") && len(kind) > 2:
			kind = kind[2:]
		default:
			return Setting{Unknown: "the field takes " + inWords(kind) + ", and has nothing below it"}, ""
		}
	}
	return Setting{Takes: inWords(kind) + versions}, kind
}

// DescribeFlag describes a flag of the kubelet's, by its name without dashes in front.
func DescribeFlag(name string) Setting {
	t := known()
	s, _ := t.describe(t.flags, "", strings.ReplaceAll(name, "_", "-"), "flag")
	return s
}

// described is the kind that the newest of the versions has which know a name, and what to say of all of these.
type described struct{ kind, versions string }

func (t *table) describe(section, owner, name, what string) (Setting, described) {
	since, until, kind := t.newest+1, 0, ""
	for s := range t.spans(section, owner, name) {
		if since = min(since, s.since); s.until > until {
			until, kind = s.until, s.kind
		}
	}
	if kind == "" {
		return Setting{Unknown: "no kubelet has such a " + what + t.nearest(section, owner, name, t.newest)}, described{}
	}
	versions := t.versions(since, until)
	return Setting{Takes: inWords(kind) + versions}, described{kind, versions}
}

// versions names the versions that have a setting; nothing for all that are known.
func (t *table) versions(since, until int) string {
	switch {
	case since > t.oldest && until < t.newest:
		return fmt.Sprintf(" (Kubernetes 1.%d to 1.%d)", since, until)
	case since > t.oldest:
		return fmt.Sprintf(" (since Kubernetes 1.%d)", since)
	case until < t.newest:
		return fmt.Sprintf(" (until Kubernetes 1.%d)", until)
	}
	return ""
}
