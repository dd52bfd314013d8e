package facts

import "strings"

const (
	// maxText limits a cloud's text about a machine, in bytes; an Azure resource ID is the longest.
	maxText = 1 << 10
	// maxHostname and maxLabel limit a name (RFC 1123 section 2.1).
	maxHostname = 253
	maxLabel    = 63
)

// CleanText returns a cloud's text about the machine if it is printable ASCII of at most 1 KiB, or else "". The text is
// written to files and terminals.
func CleanText(text string) string {
	if len(text) > maxText || printable(text) != text {
		return ""
	}
	return text
}

// CleanHostname returns a host name in lower case, as a Node has it, or "" if it is invalid.
func CleanHostname(name string) string {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if name == "" || len(name) > maxHostname {
		return ""
	}
	for label := range strings.SplitSeq(name, ".") {
		if !isLabel(label) {
			return ""
		}
	}
	return name
}

// isLabel reports whether a part of a name is letters, digits and inner dashes.
func isLabel(label string) bool {
	if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	return strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
