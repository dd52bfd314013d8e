package nodeconfig

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/unitfile"
)

// DefaultTarget is what a unit starts with at boot where it says nothing else.
const DefaultTarget = "multi-user.target"

// WantedBy are the units that start this one at boot where it is enabled: those that its content names, sorted, or else
// [DefaultTarget].
func (u *Unit) WantedBy() []string {
	named := wordsOf(unitfile.Values(u.Content, "Install", "WantedBy"))
	if len(named) == 0 {
		return []string{DefaultTarget}
	}
	slices.Sort(named)
	return slices.Compact(named)
}

// isTemplate reports whether a unit is a template, which does not run itself (systemd.unit(5), "Unit templates").
func isTemplate(name string) bool { return strings.Contains(name, "@.") }

// wordsOf are the words of a list setting: an empty value removes those before it (systemd.syntax(7)).
func wordsOf(values []string) []string {
	var words []string
	for _, value := range values {
		if value == "" {
			words = nil
		}
		words = append(words, strings.Fields(value)...)
	}
	return words
}

// firstLine is the first line of a unit file that says something.
func firstLine(content string) string {
	for line := range strings.Lines(content) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && line[0] != ';' {
			return line
		}
	}
	return ""
}
