package nodeconfig

import (
	"fmt"
	"strings"
)

// CheckFeature returns what is wrong with a switch of the image's own programs (components.features; AKS's
// enabled_features), or "". The file that they are written to is read line by line, as NAME=VALUE, but its name
// ends in .sh, and one day somebody will source it: so a value holds only what a shell takes literally.
func CheckFeature(name, value string) string {
	if reason := checkVariable(name); reason != "" {
		return reason
	}
	if i := strings.IndexFunc(value, notInFeatureValue); i >= 0 {
		return fmt.Sprintf("has a value with a character (at byte %d) that is not allowed; use letters, digits and _ . , : / @ %% + = - only", i)
	}
	return ""
}

// checkVariable returns what is wrong with the name of a variable, or "" (POSIX.1-2017, Base Definitions, 8.1).
func checkVariable(name string) string {
	if name == "" || strings.IndexFunc(name, notInFeatureName) >= 0 || '0' <= name[0] && name[0] <= '9' {
		return "is not the name of a variable; want letters, digits and _, not beginning with a digit"
	}
	return ""
}

func notInFeatureName(r rune) bool { return r != '_' && !letterOrDigit(r) }

func notInFeatureValue(r rune) bool {
	return !letterOrDigit(r) && !strings.ContainsRune("_.,:/@%+=-", r)
}

func letterOrDigit(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}
