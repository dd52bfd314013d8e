package kubeletapi

import (
	"fmt"
	"strings"
)

// Setting describes a setting for a person, without a certain version of the kubelet in mind.
type Setting struct {
	// Takes describes the setting's values, and the versions that have it.
	Takes string
	// Unknown is why there is no such setting, and the most similar one. It is empty if the setting exists.
	Unknown string
}

// DescribeField describes the field of a KubeletConfiguration at the end of names. An item of a list has the name "".
func DescribeField(names []string) Setting {
	s, _ := known().follow(names)
	return s
}

// Inside is the kind of content in a field of a KubeletConfiguration.
type Inside int

// The kinds of content.
const (
	// Other: the field has named fields, no content, or unknown content.
	Other Inside = iota
	// Items: the field is a list.
	Items
	// Values: the field is a map of single values, whose names the document's author chooses.
	Values
)

// InsideField returns the kind of content in the field at the end of names, as in DescribeField.
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

// Durations returns the fields of a KubeletConfiguration that are durations, with dots between their names, without those in lists.
func Durations() []string { return known().durations("KubeletConfiguration", "") }

// durations returns those of a struct; above is its path, with a dot.
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

// follow walks along names from a KubeletConfiguration, and returns the description of the field at their end, and its kind.
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

// PlaceOf returns the table's name of the field at the end of names, such as "KubeletConfiguration maxPods", and the struct inside the
// field, if there is one. A value of a map has the name of the map. Without names, the struct is KubeletConfiguration.
func PlaceOf(names []string) (field, inside string) {
	t, kind := known(), ".KubeletConfiguration"
	for _, name := range names {
		owner, isStruct := strings.CutPrefix(kind, ".")
		switch {
		case isStruct:
			_, newest := t.describe(t.fields, owner, name, "field")
			if newest.kind == "" {
				return "", ""
			}
			field, kind = owner+" "+name, newest.kind
		case len(kind) > 2:
			kind = kind[2:]
		}
	}
	if _, inside, ok := strings.Cut(kind, "."); ok {
		return field, inside
	}
	return field, ""
}

// FieldsOf returns the names of the fields of a struct in the table, sorted.
func FieldsOf(owner string) (names []string) {
	for line := range strings.SplitSeq(known().fields, "\n") {
		if rest, ok := strings.CutPrefix(line, owner+" "); ok {
			if name, _, _ := strings.Cut(rest, " "); len(names) == 0 || names[len(names)-1] != name {
				names = append(names, name)
			}
		}
	}
	return names
}

// DescribeFlag describes a kubelet flag, by its name without leading dashes.
func DescribeFlag(name string) Setting {
	t := known()
	s, _ := t.describe(t.flags, "", strings.ReplaceAll(name, "_", "-"), "flag")
	return s
}

// described is the kind of a name in the newest version that has it, and a description of the versions.
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

// versions names the versions that have a setting. It returns "" if all known versions have it.
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
