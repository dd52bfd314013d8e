package stability

import (
	"regexp"
	"strings"
)

// quoted is a text between backticks.
var quoted = regexp.MustCompile("`([^`]+)`")

// named are the breaks that a changelog names: the texts between backticks below "### Breaking" of "## Unreleased".
func named(changelog string) map[string]bool {
	ids := make(map[string]bool)
	for _, match := range quoted.FindAllStringSubmatch(section(section(changelog, "## Unreleased", "## "), "### Breaking", "### "), -1) {
		ids[match[1]] = true
	}
	return ids
}

// section is the text between a heading and the next one of its level.
func section(text, heading, level string) string {
	_, rest, found := strings.Cut("\n"+text, "\n"+heading+"\n")
	if !found {
		return ""
	}
	within, _, _ := strings.Cut("\n"+rest, "\n"+level)
	return within
}

// Unnamed are the breaks that a changelog does not name.
func Unnamed(changelog string, breaks []Break) (unnamed []Break) {
	ids := named(changelog)
	for _, b := range breaks {
		if !ids[b.ID] {
			unnamed = append(unnamed, b)
		}
	}
	return unnamed
}
