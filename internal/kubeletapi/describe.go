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

// follow goes along names from a KubeletConfiguration, and returns what there is to say of the field at their end,
// and its kind.
func (t *table) follow(names []string) (_ Setting, kind string) {
	kind, versions := ".KubeletConfiguration", ""
	for i, name := range names {
		switch owner, isStruct := strings.CutPrefix(kind, "."); {
		case isStruct:
			s := t.describe(t.fields[owner], name, "field")
			if s.Unknown != "" {
				return s, ""
			}
			spans := t.fields[owner][name]
			kind = spans[len(spans)-1].kind
			if v := t.versions(spans); v != "" {
				versions = v
			}
		case i == 1 && names[0] == "featureGates":
			return t.describe(t.gates, name, "feature gate"), ""
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
	return t.describe(t.flags, strings.ReplaceAll(name, "_", "-"), "flag")
}

func (t *table) describe(all map[string][]span, name, what string) Setting {
	spans := all[name]
	if len(spans) == 0 {
		return Setting{Unknown: "no kubelet has such a " + what + nearest(all, name, t.newest)}
	}
	return Setting{Takes: inWords(spans[len(spans)-1].kind) + t.versions(spans)}
}

// versions names the versions that have a setting; nothing for all that are known.
func (t *table) versions(spans []span) string {
	since, until := spans[0].since, spans[0].until
	for _, s := range spans {
		since, until = min(since, s.since), max(until, s.until)
	}
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
