package envelope

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// kind is the kind of some data.
type kind uint8

const (
	unknown kind = iota
	empty
	gzipped
	zstandard
	base64Text
	archive
	cloudConfig
	script
	jsonText
	contractText
	template
	include
	otherCloudInit
	text
	binary
)

// kindNames name kinds without a contract, for a person.
var kindNames = [...]string{
	empty:          "nothing at all",
	cloudConfig:    "a cloud-config that writes no contract",
	script:         "a script that writes no contract",
	template:       "a template, which is not rendered",
	include:        "a list of URLs, which are not fetched",
	otherCloudInit: "another of cloud-init's formats",
	text:           "text of an unknown kind",
	binary:         "bytes of an unknown kind",
}

func (k kind) String() string { return kindNames[k] }

// beginning is how data of a kind begins.
type beginning struct {
	prefix string
	kind   kind
}

// magics are the first bytes of compressed data: RFC 1952, section 2.3.1; RFC 8878, section 3.1.1.
var magics = []beginning{
	{"\x1f\x8b", gzipped},
	{"\x28\xb5\x2f\xfd", zstandard},
}

// beginnings are the first characters of text, in any case. If one begins with another, the longer one comes first.
// Source: cloud-init's documentation, "User data formats" and "Instance-data templates".
var beginnings = []beginning{
	{"{", jsonText},
	{"## template:", template},
	{"#cloud-config-archive", otherCloudInit},
	{"#cloud-config-jsonp", otherCloudInit},
	{"#cloud-config", cloudConfig},
	{"#cloud-boothook", script},
	{"#include", include},
	{"#part-handler", otherCloudInit},
	{"#upstart-job", otherCloudInit},
	{"#!", script},
}

// documentFields are top-level fields, of which a YAML contract has at least one: the first two are the native
// dialect's, the last is AKS's. A JSON document needs none of them, because nothing else begins like it.
var documentFields = []string{"apiVersion", "kind", "version"}

// byteOrderMark is UTF-8's, which some editors write.
const byteOrderMark = "\xef\xbb\xbf"

const whiteSpace = " \t\r\n"

// trimmed returns text without optional characters before it. Those after it may be part of a file's content.
func trimmed(data []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(data, []byte(byteOrderMark)), whiteSpace)
}

// kind returns a layer's kind: by its content, or else by its declaration. A declaration does not override an
// unambiguous content.
func (l *layer) kind() kind {
	k := kindOf(l.data)
	switch l.declared {
	case cloudConfig, script:
		if k == text || k == contractText || k == jsonText {
			return l.declared
		}
	case contractText:
		if k == text {
			return contractText
		}
	}
	return k
}

// kindOf returns the kind of data by its content.
func kindOf(data []byte) kind {
	for _, m := range magics {
		if bytes.HasPrefix(data, []byte(m.prefix)) {
			return m.kind
		}
	}
	content := trimmed(data)
	if len(content) == 0 {
		return empty
	}
	for _, b := range beginnings {
		if len(content) >= len(b.prefix) && bytes.EqualFold(content[:len(b.prefix)], []byte(b.prefix)) {
			return b.kind
		}
	}
	switch {
	case isMessage(content):
		return archive
	case bytes.IndexByte(content, 0) >= 0 || !utf8.Valid(content):
		return binary
	case isDocument(content):
		return contractText
	case isBase64(content):
		return base64Text
	}
	return text
}

// IsUserData reports whether data is in one of the forms that a machine's user data has and a contract does not have: compressed,
// encoded, or a document of cloud-init or Ignition. Larger data than [Open] reads is not.
func IsUserData(data []byte) bool {
	if len(data) > maxInput {
		return false
	}
	switch kindOf(data) {
	case gzipped, zstandard, base64Text, archive, cloudConfig, script, template, include, otherCloudInit:
		return true
	case jsonText:
		is, err := isIgnition(trimmed(data))
		return is && err == nil
	}
	return false
}

// isDocument reports whether text could be a YAML contract: its unindented lines have the form of a map's entries, and
// a contract's field is among them. A text that only mentions such a field also has other lines.
func isDocument(content []byte) bool {
	found := false
	for line := range bytes.Lines(content) {
		line = bytes.TrimRight(line, whiteSpace)
		if len(line) == 0 || strings.IndexByte(besideFields, line[0]) >= 0 || string(line) == "---" || bytes.HasPrefix(line, []byte("- ")) {
			continue
		}
		name, _, isField := bytes.Cut(line, []byte(":"))
		if !isField {
			return false
		}
		found = found || slices.Contains(documentFields, string(bytes.Trim(name, ` "'`)))
	}
	return found
}

// besideFields are the first characters of lines without a field in a YAML map: they are indented, or comments, or end
// a list or a map in braces.
const besideFields = " \t#]}"
