package nodeconfig

import (
	"fmt"
	"math"
	"strings"
)

// The formats of a contract's strings. They are plain code instead of regular expressions, because those would be compiled at each
// start of the agent, in the boot path.

// class is a set of characters.
type class [256]bool

// with returns the class with the characters from first to last added.
func (c class) with(first, last byte) class {
	for i := int(first); i <= int(last); i++ {
		c[i] = true
	}
	return c
}

// or returns the class with other characters added.
func (c class) or(others string) class {
	for i := range len(others) {
		c[others[i]] = true
	}
	return c
}

var (
	digit        = class{}.with('0', '9')
	lowerDigit   = digit.with('a', 'z')
	alphanumeric = lowerDigit.with('A', 'Z')
	// printable is every visible ASCII character; the space is not one.
	printable = class{}.with('!', '~')

	lowerDigitDash    = lowerDigit.or("-")
	domainEdge        = alphanumeric.or("_")
	domainCharacter   = alphanumeric.or("_-")
	labelCharacter    = alphanumeric.or("_.-")
	versionCharacter  = alphanumeric.or(".-")
	nameCharacter     = alphanumeric.or("_")
	serviceCharacter  = alphanumeric.or(":_.@-")
	moduleCharacter   = alphanumeric.or("_-")
	imageCharacter    = alphanumeric.or("._/:@-")
	parameterFirst    = lowerDigit.or("_")
	parameterFollows  = alphanumeric.or("_/*-")
	unitCharacter     = alphanumeric.or(`:_.\@-`)
	hexadecimalDigits = digit.or("abcdefABCDEF")
)

// consists reports whether a string has from least to most characters, all of them in a class.
//
//go:noinline
func consists(s string, least, most int, class *class) bool {
	if len(s) < least || len(s) > most {
		return false
	}
	for i := range len(s) {
		if !class[s[i]] {
			return false
		}
	}
	return true
}

// isWord reports whether a string has from one to most characters of a class, with the first and the last in a smaller class.
func isWord(s string, most int, edge, inner *class) bool {
	return consists(s, 1, most, inner) && edge[s[0]] && edge[s[len(s)-1]]
}

// isPrintable reports whether a string is on one line, without a character that could end or split the line.
func isPrintable(s string) bool {
	return consists(s, 1, math.MaxInt, &printable)
}

// isKubernetesVersion reports whether a string is a release, such as 1.34.2 or 1.35.0-rc.1.
func isKubernetesVersion(s string) bool {
	s, build, hasBuild := strings.Cut(s, "+")
	s, pre, hasPre := strings.Cut(s, "-")
	rest, ok := strings.CutPrefix(s, "1.")
	minor, patch, dotted := strings.Cut(rest, ".")
	return ok && dotted && isNumber(minor, 3) && isNumber(patch, 4) &&
		(!hasBuild || consists(build, 1, 64, &versionCharacter)) && (!hasPre || consists(pre, 1, 64, &versionCharacter))
}

// isNumber reports whether a string is a decimal number without leading zeros.
func isNumber(s string, most int) bool {
	return consists(s, 1, most, &digit) && (s == "0" || s[0] != '0')
}

// IsBootstrapToken reports whether a string is a bootstrap token, such as "abcdef.0123456789abcdef" (Kubernetes:
// bootstrap.kubernetes.io/token).
func IsBootstrapToken(s string) bool {
	id, secret, found := strings.Cut(s, ".")
	return found && consists(id, 6, 6, &lowerDigit) && consists(secret, 16, 16, &lowerDigit)
}

// isDNSName reports whether a string consists of DNS labels.
func isDNSName(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if !isWord(label, 63, &lowerDigit, &lowerDigitDash) {
			return false
		}
	}
	return true
}

// isDomain reports whether a string is a domain name for lookups. It may have an underscore, as services' names do, and a final dot
// if it is fully qualified (RFC 1035, 2.3.4; RFC 2782).
func isDomain(s string) bool {
	s = strings.TrimSuffix(s, ".")
	if len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if !isWord(label, 63, &domainEdge, &domainCharacter) {
			return false
		}
	}
	return true
}

// isEnvName reports whether a string is a portable name of an environment variable.
func isEnvName(s string) bool { return consists(s, 1, math.MaxInt, &nameCharacter) && !digit[s[0]] }

// isServiceName reports whether a string is a service's unit name without ".service", which is also a file name (systemd.unit(5)).
func isServiceName(s string) bool {
	return isWord(s, 200, &alphanumeric, &serviceCharacter) && !strings.HasSuffix(s, ".service")
}

// isFlagName reports whether a string is a command line flag's name without its dashes.
func isFlagName(s string) bool { return isWord(s, math.MaxInt, &lowerDigit, &lowerDigitDash) }

// isLabelValue reports whether a string is a label's value or the name part of its key (apimachinery, IsValidLabelValue and
// IsQualifiedName).
func isLabelValue(s string) bool { return isWord(s, 63, &alphanumeric, &labelCharacter) }

// isImageReference reports whether a string may name a container image. The registry validates the parts of the name.
func isImageReference(s string) bool { return isWord(s, math.MaxInt, &alphanumeric, &imageCharacter) }

// isSysctlKey reports whether a string is a kernel parameter's dotted name. A network interface's name in it may contain slashes.
func isSysctlKey(s string) bool {
	first, rest, dotted := strings.Cut(s, ".")
	if !dotted || !consists(first, 1, math.MaxInt, &parameterFirst) {
		return false
	}
	for part := range strings.SplitSeq(rest, ".") {
		if !consists(part, 1, math.MaxInt, &parameterFollows) {
			return false
		}
	}
	return true
}

// isUserName reports whether a string is a local user's name (systemd.io: user and group name syntax).
func isUserName(s string) bool { return isWord(s, 64, &nameCharacter, &labelCharacter) }

// isModuleName reports whether a string is a kernel module's name.
func isModuleName(s string) bool { return consists(s, 1, 64, &moduleCharacter) }

// isLimitValue reports whether a string is a resource limit in systemd's format: "1048576", "65536:1048576", "infinity".
func isLimitValue(s string) bool {
	soft, hard, both := strings.Cut(s, ":")
	return isLimit(soft) && (!both || isLimit(hard))
}

func isLimit(s string) bool {
	if s == "infinity" {
		return true
	}
	if n := len(s); n > 1 && strings.IndexByte("KMGTPE", s[n-1]) >= 0 {
		s = s[:n-1]
	}
	return consists(s, 1, math.MaxInt, &digit)
}

// isSHA256 reports whether a string is a SHA-256 digest in hexadecimal.
func isSHA256(s string) bool { return consists(s, 64, 64, &hexadecimalDigits) }

// CheckFeature returns what is wrong with a switch for the image's own programs (components.features; AKS's enabled_features), or
// "". The launcher of AKS's images reads the file line by line, as NAME=VALUE, and never as shell code. So a value may be any
// single line that an environment variable can hold (AKS: aks-node-controller-launcher.sh, nodeconfigutils: enabledFeaturesBlock).
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
