//go:build crosscheck

package crosscheck

import (
	"bytes"
	"path"
	"regexp"
	"slices"
)

// difference is an intended difference.
type difference struct {
	name, reason string
	is           func(c *comparison) bool
}

// constructing are PyYAML's exceptions for a document that is valid YAML.
var constructing = []string{"ConstructorError", "ValueError", "KeyError", "TypeError", "IndexError", "AttributeError", "OverflowError"}

// refused is a difference: Open refuses, with these words, a document that cloud-init reads.
func refused(reason string, words ...string) difference {
	return difference{"refused: " + words[0], reason, func(c *comparison) bool {
		return slices.ContainsFunc(words, c.ours.says)
	}}
}

// oddSpace is white space in Python.
var oddSpace = regexp.MustCompile(`^\s*[\x0b\x0c\x1c-\x1f\x{85}\x{a0}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]`)

// Documents that this module's YAML reader cannot read: an unknown directive, a slash escaped as in JSON, half of a character, a
// bracket right after the colon of an unquoted name, a block whose first line begins with a tab.
var (
	directive    = regexp.MustCompile(`(^|[\r\n\x{85}\x{2028}\x{2029}])%`) // at the beginning of a line (YAML 1.1, "Line Break Characters")
	surrogate    = regexp.MustCompile(`\\u[dD][89a-fA-F]`)
	closeBracket = regexp.MustCompile(`[^\s,\[\]{}][ \t]*:[\[{]`)
	escapedSlash = regexp.MustCompile(`\\/`)
	firstTab     = regexp.MustCompile(`[|>][-+0-9]*[^\n\r]*(\s*[\r\n])+ *\t`)
)

// fileDifferences are all differences for cloud-configs. If Open reads a document, it reads the same as cloud-init where that
// continues, which sameFile checks. If Open refuses a document, it does so with the words of the row, or finds nothing in it.
var fileDifferences = []difference{
	{"read: an entry for another file fails",
		"cloud-init ends its module there, and what comes after is not written. What is not about a contract is not looked at.",
		func(c *comparison) bool { return c.theirs.Failed == "elsewhere" && c.sameFile() }},
	{"read: a value that Python cannot make, where nothing is said of a contract",
		"The document is in order as YAML, and what is not about a contract is not looked at.",
		func(c *comparison) bool { return slices.Contains(constructing, c.theirs.Load) && c.sameFile() }},
	{"read: a tab, or a comment right after a block's sign, where PyYAML's scanner allows none",
		"libyaml, which this module's reader is a port of, reads the same as that reader.",
		func(c *comparison) bool { return c.theirs.Load == "ScannerError" && c.sameFile() }},
	{"read: an apostrophe is escaped",
		"YAML has no such escape. This module's reader, a port of an older libyaml, takes it for the apostrophe.",
		func(c *comparison) bool {
			plain := open(bytes.ReplaceAll(c.document, []byte(`\'`), []byte(`'`)))
			return c.theirs.Load == "ScannerError" && bytes.Contains(c.document, []byte(`\'`)) && plain.err == nil && c.ours.err == nil &&
				bytes.Equal(plain.contract.Data, c.ours.contract.Data) && plain.contract.Path == c.ours.contract.Path
		}},
	{"read: a byte order mark",
		"cloud-init does not know a cloud-config behind one, and passes over it without a word.",
		func(c *comparison) bool {
			return bytes.HasPrefix(c.document, []byte("\xef\xbb\xbf")) && c.theirs.Type == "" && c.sameFile()
		}},
	{"read: no cloud-config, but what has the form of a contract",
		"Another kind of user data, in which cloud-init finds nothing.",
		func(c *comparison) bool {
			return c.theirs.Type == "" && c.ours.err == nil && c.ours.contract.Path == ""
		}},

	{"none: a template",
		"It is not rendered.",
		func(c *comparison) bool {
			return c.theirs.Type == typeTemplate && c.ours.says("a template, which is not rendered")
		}},
	{"none: the file's name is spelt with escapes, or broken by a line's end",
		"A cloud-config without the name of one of the places is left unread, so that an error in it is cloud-init's alone. What writes contracts spells the name out.",
		func(c *comparison) bool {
			return c.ours.none() && !slices.ContainsFunc(places, func(place string) bool { return bytes.Contains(c.document, []byte(path.Base(place))) })
		}},

	{"none: white space beyond ASCII before a cloud-config",
		"It is no cloud-config to a person either; cloud-init passes over whatever is white in Unicode.",
		func(c *comparison) bool { return oddSpace.Match(c.document) && c.ours.says("text of an unknown kind") }},

	{"refused: a directive that YAML does not have",
		"This module's reader of YAML knows only its own; cloud-init passes over others.",
		func(c *comparison) bool { return directive.Match(c.document) && c.ours.says(notYAML) }},
	{"refused: a slash is escaped",
		"This module's reader of YAML does not know the escape.",
		func(c *comparison) bool { return escapedSlash.Match(c.document) && c.ours.says(notYAML) }},
	{"refused: a surrogate is escaped",
		"This module's reader of YAML does not know the half of a character; cloud-init does until it is to write it.",
		func(c *comparison) bool { return surrogate.Match(c.document) && c.ours.says(notYAML) }},
	{"refused: a bracket stands right after a colon",
		"This module's reader of YAML takes it for part of a name.",
		func(c *comparison) bool { return closeBracket.Match(c.document) && c.ours.says(notYAML) }},
	{"refused: a block begins with a tab or a byte order mark",
		"This module's reader of YAML takes a tab for indentation. At a line's begin it looks for a mark in the first bytes that it has buffered " +
			"(yamlprivateh.go, is_bom): by chance, that is one within the document.",
		func(c *comparison) bool {
			return (firstTab.Match(c.document) || bytes.Contains(c.document, []byte("\xef\xbb\xbf"))) && c.ours.says(notYAML)
		}},
	refused("Which of two was meant is not to be guessed; cloud-init takes the last.", "is given twice"),
	refused("What a merge key brings is not to be guessed.", "a merge key may set"),
	refused("cloud-init passes over other signs, and so over a damaged text.", "the base64 has a character that is not part of base64"),
	refused("cloud-init passes over padding that there is too much of.", "the base64 is cut short, or has too many characters"),
	refused("cloud-init takes it for false.", "is neither true nor false"),
	refused("cloud-init takes what is empty for no encoding, and what is binary for an unknown one.", "the encoding of a file is not text"),
	refused("A path is text; cloud-init takes bytes as well.", "the path of a file is binary"),
	refused("What is not quoted and begins as a number is not written by what writes contracts.", "the content of a file is not text"),
	refused("Versions of cloud-init that can fetch it would write something else.", "the content of a file comes from a URL, which is not fetched"),
	refused("The same.", "the owner of a file is not text"),
	refused("cloud-init takes what is empty for an empty list.", "write_files is not a list"),
	refused("cloud-init takes nothing for gzip of nothing.", "the compressed data ends early"),
	refused("cloud-init checks no sum of a header, and passes over zeros at the end.", "the compressed data is damaged"),
}

// notYAML is Open's error if its YAML reader refuses a document.
const notYAML = "the cloud-config cannot be read as YAML"
