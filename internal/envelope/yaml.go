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

// yamlTags are the tags that cloud-init's loader constructs (PyYAML, SafeConstructor; cloudinit/safeyaml.py).
// A document that has another is none to cloud-init.
var yamlTags = []string{
	"!!null", "!!bool", "!!int", "!!float", "!!binary", "!!timestamp", "!!omap", "!!pairs", "!!set", "!!str", "!!seq", "!!map",
	"!!python/unicode", "!",
}

// parseYAML returns the tree of a text that is one document in YAML, and has no tag that cloud-init does not
// know. The text has been admitted, so the tree is bounded.
func parseYAML(l *layer, content []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var document, next yaml.Node
	if err := decoder.Decode(&document); err != nil || len(document.Content) == 0 {
		return nil, l.broken("the cloud-config cannot be read as YAML") // the error itself may show some of it
	}
	if err := decoder.Decode(&next); !errors.Is(err, io.EOF) {
		return nil, l.broken("the cloud-config has something after its first YAML document")
	}
	if err := checkNodes(l, document.Content[0]); err != nil {
		return nil, err
	}
	return document.Content[0], nil
}

// checkNodes refuses what makes a document none to cloud-init that is one to this module's reader: other tags,
// and an anchor that is given twice.
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

// field returns the value of a map's field, nil where it has none. A field that is given twice is refused, and
// so is a merge key that may bring one: which value was meant is not to be guessed.
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

// resolved follows an alias to what it stands for. An anchor is never on an alias itself.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// isText reports whether a value is text to cloud-init, which reads YAML 1.1, as well as to this module's reader.
func isText(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		return false
	}
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) != 0
	return quoted || !isWord(n.Value) && !isNumber(n.Value)
}

// isNull reports whether a value is not there, or is null.
func isNull(n *yaml.Node) bool { return n == nil || n.ShortTag() == "!!null" }

// words are those of YAML 1.1 that are no text where they are not quoted, in lower case (yaml.org/type: bool,
// null, value, merge). They are not words in every case; none of them is a path or a contract in any.
var words = []string{"yes", "no", "true", "false", "on", "off", "null", "~", "=", "<<"}

func isWord(text string) bool { return slices.Contains(words, lowered(text)) }

// isNumber reports whether text could be a number or a time of YAML 1.1 (yaml.org/type: int, float, timestamp):
// it begins as one, and has only their signs. No contract in base64 is that poor.
func isNumber(text string) bool {
	return text != "" && strings.IndexByte("+-.0123456789", text[0]) >= 0 &&
		strings.Trim(text, "0123456789+-_.: \tabcdefABCDEFxoinINtTzZ") == ""
}

// flag returns a boolean of an entry, false where it has none. Of what is neither cloud-init says false
// (cloudinit/util.py, translate_bool); it is refused, as it was hardly meant so.
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

// lowered returns a word without white space around it and in lower case, as cloud-init compares it: by Python's
// strip(), which cuts off four signs more than Go. Letters beyond ASCII stay as they are: what Go and Python make
// of them differs, and no word has any.
func lowered(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }))
}
