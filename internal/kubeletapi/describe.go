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
	t, kind, versions := known(), ".KubeletConfiguration", ""
	for i, name := range names {
		switch owner, isStruct := strings.CutPrefix(kind, "."); {
		case isStruct:
			s := t.describe(t.fields[owner], name, "field")
			if s.Unknown != "" {
				return s
			}
			spans := t.fields[owner][name]
			kind = spans[len(spans)-1].kind
			if v := t.versions(spans); v != "" {
				versions = v
			}
		case i > 0 && names[0] == "featureGates" && i == 1:
			return t.describe(t.gates, name, "feature gate")
		case strings.HasPrefix(kind, "[]") == (name == "") && len(kind) > 2:
			kind = kind[2:]
		default:
			return Setting{Unknown: "the field takes " + inWords(kind) + ", and has nothing below it"}
		}
	}
	return Setting{Takes: inWords(kind) + versions}
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
