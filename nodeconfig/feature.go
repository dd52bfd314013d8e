package nodeconfig

import (
	"fmt"
	"strings"
)

// CheckFeature returns what is wrong with a switch of the image's own programs (components.features; AKS's
// enabled_features), or "". The launcher of AKS's images reads the file line by line, as NAME=VALUE, and never as shell code.
// So a value is any text of one line that an environment variable can hold (AKS: aks-node-controller-launcher.sh,
// nodeconfigutils: enabledFeaturesBlock).
func CheckFeature(name, value string) string {
	if reason := checkVariable(name); reason != "" {
		return reason
	}
	if i := strings.IndexAny(value, "\n\r\x00"); i >= 0 {
		return fmt.Sprintf("has a value with a line break or a zero byte (at byte %d); use one line of text", i)
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

func letterOrDigit(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}
