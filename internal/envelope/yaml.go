package envelope

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// yamlTags are the tags that cloud-init's loader supports (PyYAML, SafeConstructor; cloudinit/safeyaml.py). cloud-init
// rejects a document with another tag.
var yamlTags = []string{
	"!!null", "!!bool", "!!int", "!!float", "!!binary", "!!timestamp", "!!omap", "!!pairs", "!!set", "!!str", "!!seq", "!!map",
	"!!python/unicode", "!",
}

// parseYAML returns the tree of a text that is one YAML document without unsupported tags. The text has been admitted,
// so the tree is limited.
func parseYAML(l *layer, content []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var document, next yaml.Node
	if err := decoder.Decode(&document); err != nil || len(document.Content) == 0 {
		return nil, l.broken("the cloud-config cannot be read as YAML") // the error itself may show some of the text
	}
	if err := decoder.Decode(&next); !errors.Is(err, io.EOF) {
		return nil, l.broken("the cloud-config has something after its first YAML document")
	}
	if err := checkNodes(l, document.Content[0]); err != nil {
		return nil, err
	}
	return document.Content[0], nil
}

// checkNodes refuses a document that cloud-init rejects and this module's reader accepts: other tags, and a duplicate
// anchor.
func checkNodes(l *layer, top *yaml.Node) error {
	anchors := make(map[string]bool)
	for left := []*yaml.Node{top}; len(left) > 0; {
		n := left[len(left)-1]
		left = append(left[:len(left)-1], n.Content...)
		if n.Style&yaml.TaggedStyle != 0 && !slices.Contains(yamlTags, n.ShortTag()) {
			return l.broken("the cloud-config has a tag that YAML does not define")
		}
		if anchors[n.Anchor] {
			return l.broken("the cloud-config defines an anchor twice")
		}
		if n.Anchor != "" {
			anchors[n.Anchor] = true
		}
	}
	return nil
}

// field returns the value of a map's field, or nil. A duplicate field is refused, and so is a merge key that may add
// one: it would be ambiguous.
func field(l *layer, m *yaml.Node, name string) (*yaml.Node, error) {
	var value *yaml.Node
	merges := false
	for i := 0; i+1 < len(m.Content); i += 2 {
		switch key := resolved(m.Content[i]); {
		case isText(key) && key.Value == name:
			if value != nil {
				return nil, l.broken("%s is given twice", name)
			}
			value = resolved(m.Content[i+1])
		case key.ShortTag() == "!!merge":
			merges = true
		}
	}
	if merges && value == nil {
		return nil, l.broken("a merge key may set %s: set it directly", name)
	}
	return value, nil
}

// resolved follows an alias to its value. An alias itself never has an anchor.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// isText reports whether a value is text for cloud-init, which reads YAML 1.1, as well as for this module's reader.
func isText(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		return false
	}
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) != 0
	return quoted || !isWord(n.Value) && !isNumber(n.Value)
}

// isNull reports whether a value is missing or null.
func isNull(n *yaml.Node) bool { return n == nil || n.ShortTag() == "!!null" }

// words are the words that YAML 1.1 does not treat as text without quotes, in lower case (yaml.org/type: bool, null,
// value, merge). Not every spelling is such a word; none of them is a path or a contract in any spelling.
var words = []string{"yes", "no", "true", "false", "on", "off", "null", "~", "=", "<<"}

func isWord(text string) bool { return slices.Contains(words, lowered(text)) }

// isNumber reports whether text could be a number or a time of YAML 1.1 (yaml.org/type: int, float, timestamp): it
// begins like one, and has only their characters. A contract in base64 has more.
func isNumber(text string) bool {
	return text != "" && strings.IndexByte("+-.0123456789", text[0]) >= 0 &&
		strings.Trim(text, "0123456789+-_.: \tabcdefABCDEFxoinINtTzZ") == ""
}

// flag returns a boolean of an entry, or false if it is missing. cloud-init treats any other value as false
// (cloudinit/util.py, translate_bool); it is refused here, because it is probably a mistake.
func flag(l *layer, n *yaml.Node, name string) (bool, error) {
	if n == nil {
		return false, nil
	}
	if n.Kind == yaml.ScalarNode && (n.Style&yaml.TaggedStyle == 0 || n.ShortTag() == "!!str") {
		switch lowered(n.Value) {
		case "true", "1", "on", "yes":
			return true, nil
		case "false", "0", "off", "no", "null", "~", "":
			return false, nil
		}
	}
	return false, l.broken("%s is neither true nor false", name)
}

// lowered returns a word in lower case and without white space around it, as cloud-init compares it: by Python's
// strip(), which removes four characters more than Go's. Letters beyond ASCII stay unchanged: Go and Python treat them
// differently, and no word has any.
func lowered(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }))
}
