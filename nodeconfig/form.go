package nodeconfig

import (
	"fmt"
	"math"
	"strings"
)

// The forms that texts of a contract have. They are written out, and are no regular expressions: those would be compiled
// at each start of the agent, in the boot path.

// class is a set of characters.
type class [256]bool

// with is the class with the characters from first to last as well.
func (c class) with(first, last byte) class {
	for i := int(first); i <= int(last); i++ {
		c[i] = true
	}
	return c
}

// or is the class with others as well.
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
	// printable is every character of ASCII that is seen, without the space.
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

// consists reports whether a text has from least to most characters, all of a class.
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

// isWord reports whether a text has from one to most characters of a class, the first and the last of a smaller one.
func isWord(s string, most int, edge, inner *class) bool {
	return consists(s, 1, most, inner) && edge[s[0]] && edge[s[len(s)-1]]
}

// isPrintable is text on one line, without a character that could end or split it.
func isPrintable(s string) bool {
	return consists(s, 1, math.MaxInt, &printable)
}

// isKubernetesVersion is a release, such as 1.34.2 or 1.35.0-rc.1.
func isKubernetesVersion(s string) bool {
	s, build, hasBuild := strings.Cut(s, "+")
	s, pre, hasPre := strings.Cut(s, "-")
	rest, ok := strings.CutPrefix(s, "1.")
	minor, patch, dotted := strings.Cut(rest, ".")
	return ok && dotted && isNumber(minor, 3) && isNumber(patch, 4) &&
		(!hasBuild || consists(build, 1, 64, &versionCharacter)) && (!hasPre || consists(pre, 1, 64, &versionCharacter))
}

// isNumber is a decimal number without leading zeros.
func isNumber(s string, most int) bool {
	return consists(s, 1, most, &digit) && (s == "0" || s[0] != '0')
}

// IsBootstrapToken reports whether a text is a bootstrap token, such as "abcdef.0123456789abcdef": Kubernetes' own format
// (bootstrap.kubernetes.io/token).
func IsBootstrapToken(s string) bool {
	id, secret, found := strings.Cut(s, ".")
	return found && consists(id, 6, 6, &lowerDigit) && consists(secret, 16, 16, &lowerDigit)
}

// isDNSName is a name of DNS labels.
func isDNSName(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if !isWord(label, 63, &lowerDigit, &lowerDigitDash) {
			return false
		}
	}
	return true
}

// isDomain is a name of the domain name system, as programs look it up: with an underscore in the names of services, and
// a dot at the end if it is complete (RFC 1035, 2.3.4; RFC 2782).
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

// isEnvName is a portable name of an environment variable.
func isEnvName(s string) bool { return consists(s, 1, math.MaxInt, &nameCharacter) && !digit[s[0]] }

// isServiceName is a service's unit without ".service", which is also a file's name (systemd.unit(5)).
func isServiceName(s string) bool {
	return isWord(s, 200, &alphanumeric, &serviceCharacter) && !strings.HasSuffix(s, ".service")
}

// isFlagName is a command line flag's name without its dashes.
func isFlagName(s string) bool { return isWord(s, math.MaxInt, &lowerDigit, &lowerDigitDash) }

// isLabelValue is a label's value or the name part of its key (apimachinery, IsValidLabelValue and
// IsQualifiedName).
func isLabelValue(s string) bool { return isWord(s, 63, &alphanumeric, &labelCharacter) }

// isImageReference is a container image's name; its parts are the registry's to judge.
func isImageReference(s string) bool { return isWord(s, math.MaxInt, &alphanumeric, &imageCharacter) }

// isSysctlKey is a kernel parameter by its dotted name; an interface's name may hold slashes.
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

// isUserName is a local user (systemd.io: user and group name syntax).
func isUserName(s string) bool { return isWord(s, 64, &nameCharacter, &labelCharacter) }

// isModuleName is a kernel module.
func isModuleName(s string) bool { return consists(s, 1, 64, &moduleCharacter) }

// isLimitValue is a resource limit as systemd reads it: "1048576", "65536:1048576", "infinity".
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

// isSHA256 is a digest in hexadecimal.
func isSHA256(s string) bool { return consists(s, 64, 64, &hexadecimalDigits) }

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
