package facts

import "strings"

const (
	// maxText bounds what a cloud says of a machine, in bytes; a resource ID of Azure's is the longest.
	maxText = 1 << 10
	// maxHostname and maxLabel bound a name (RFC 1123 section 2.1).
	maxHostname = 253
	maxLabel    = 63
)

// CleanText returns a text that a cloud says of the machine, or nothing where it cannot be right: it is printable
// ASCII, of at most 1 KiB. What it says goes into files and onto terminals.
func CleanText(text string) string {
	if len(text) > maxText || printable(text) != text {
		return ""
	}
	return text
}

// CleanHostname returns a host name in lower case, as a Node has it, or nothing where it is none.
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
