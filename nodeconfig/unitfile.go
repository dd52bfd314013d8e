package nodeconfig

import (
	"slices"
	"strings"
)

// DefaultTarget starts an enabled unit at boot if the unit names no other.
const DefaultTarget = "multi-user.target"

// WantedBy returns the units that start this one at boot if it is enabled: those that its content names, sorted, or else
// [DefaultTarget].
func (u *Unit) WantedBy() []string {
	named := wordsOf(unitSettings(u.Content, "Install", "WantedBy"))
	if len(named) == 0 {
		return []string{DefaultTarget}
	}
	slices.Sort(named)
	return slices.Compact(named)
}

// isTemplate reports whether a unit is a template, which does not run itself (systemd.unit(5), "Unit templates").
func isTemplate(name string) bool { return strings.Contains(name, "@.") }

// wordsOf returns the words of a list setting. An empty value removes those before it (systemd.syntax(7)).
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

// unitSettings returns the values of a setting of a unit file, in their order (systemd.syntax(7)).
func unitSettings(content, section, name string) []string {
	var values []string
	in := ""
	for _, line := range unitLines(content) {
		if header, ok := strings.CutPrefix(line, "["); ok {
			in = strings.TrimSuffix(header, "]")
			continue
		}
		if key, value, ok := strings.Cut(line, "="); ok && in == section && strings.TrimSpace(key) == name {
			values = append(values, strings.TrimSpace(value))
		}
	}
	return values
}

// unitLines returns the lines of a unit file without comments and empty lines, and joins lines that a backslash continues.
func unitLines(content string) []string {
	var lines []string
	open := ""
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";"):
			continue // within a continued line, too
		case strings.HasSuffix(line, `\`):
			open += strings.TrimSuffix(line, `\`) + " "
			continue
		}
		if line = strings.TrimSpace(open + line); line != "" {
			lines = append(lines, line)
		}
		open = ""
	}
	if open = strings.TrimSpace(open); open != "" {
		lines = append(lines, open)
	}
	return lines
}
