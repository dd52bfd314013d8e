package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parseYAML parses one YAML document. More than one is an error rather than ignored. Aliases are expanded under the same budget as
// everything else, so a bomb is an error, not an outage.
func parseYAML(data []byte) (*Node, error) {
	if signs := Signs(data); signs > MaxSigns {
		return nil, fmt.Errorf("%w: it has %d structural characters (: , - ? [ { #), the limit is %d", ErrTooLarge, signs, MaxSigns)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var top yaml.Node
	if err := dec.Decode(&top); errors.Is(err, io.EOF) {
		return nil, errors.New("document is empty")
	} else if err != nil {
		return nil, yamlError(dec, data, err)
	}
	for {
		var next yaml.Node
		err := dec.Decode(&next)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, yamlError(dec, data, err)
		}
		if next.Content[0].ShortTag() != "!!null" { // a separator at the end is common, and has no meaning
			return nil, yamlFault(next.Content[0], "more than one document: keep one")
		}
	}
	p := yamlParser{data: data}
	n, err := p.value(top.Content[0], 0)
	if err != nil {
		return nil, err
	}
	return &n, nil
}

// yamlFault is an error about a node.
func yamlFault(y *yaml.Node, format string, args ...any) error {
	return &SyntaxError{y.Line, y.Column, "yaml", fmt.Sprintf(format, args...)}
}

type yamlParser struct {
	budget
	text int
	data []byte
	// lines are those of data, once a block needs them.
	lines [][]byte
}

// read counts text, because aliases can make more of it than the document has.
func (p *yamlParser) read(text string) error {
	if p.text += len(text); p.text > MaxBytes {
		return fmt.Errorf("%w: more than %d bytes of text", ErrTooLarge, MaxBytes)
	}
	return nil
}

func (p *yamlParser) value(y *yaml.Node, depth int) (Node, error) {
	n, err := p.from(y, depth)
	n.Line, n.Column = int32(y.Line), int32(y.Column)
	return n, err
}

func (p *yamlParser) from(y *yaml.Node, depth int) (Node, error) {
	if err := p.spend(depth); err != nil {
		return Node{}, err
	}
	if err := p.read(y.Value); err != nil {
		return Node{}, err
	}
	switch y.Kind {
	case yaml.AliasNode:
		return p.value(y.Alias, depth+1)
	case yaml.SequenceNode:
		n := Node{Kind: List}
		for _, c := range y.Content {
			item, err := p.value(c, depth+1)
			if err != nil {
				return n, err
			}
			n.Items = append(n.Items, item)
		}
		return n, nil
	case yaml.MappingNode:
		return p.mapping(y, depth)
	}
	n, err := scalar(y)
	if err == nil && y.Style&yaml.LiteralStyle != 0 {
		n.Indent = p.indent(y)
	}
	return n, err
}

// indent is how many spaces are before each line of a literal block, which the library takes away: the first line with content
// has the block's spaces, and may have more.
func (p *yamlParser) indent(y *yaml.Node) int32 {
	if p.lines == nil {
		p.lines = bytes.Split(p.data, []byte("\n"))
	}
	line := y.Line // the line after it, from 0
	for text := range strings.Lines(y.Value) {
		if strings.TrimSpace(text) == "" {
			line++
			continue
		}
		if line >= len(p.lines) {
			return 0
		}
		return int32(spaces(string(p.lines[line])) - spaces(text))
	}
	return 0
}

// spaces is how many spaces a line begins with.
func spaces(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func (p *yamlParser) mapping(y *yaml.Node, depth int) (Node, error) {
	n := Node{Kind: Map}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := y.Content[i]
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
			return n, yamlFault(key, "a field's name must be plain text; merge keys are not supported")
		}
		if seen[key.Value] {
			return n, yamlFault(key, "duplicate field %q", key.Value)
		}
		seen[key.Value] = true
		if err := p.read(key.Value); err != nil {
			return n, err
		}
		value, err := p.value(y.Content[i+1], depth+1)
		if err != nil {
			return n, err
		}
		n.Fields = append(n.Fields, Field{key.Value, value})
	}
	return n, nil
}

// scalar converts a YAML scalar to JSON's types. Numbers keep their text if JSON allows it, so that 1.30 does not become 1.3.
func scalar(y *yaml.Node) (Node, error) {
	if y.Style == 0 && isJSONNumber(y.Value) {
		return Node{Kind: Number, Text: y.Value}, nil
	}
	switch y.ShortTag() {
	case "!!null":
		return Node{Kind: Null}, nil
	case "!!bool":
		var b bool
		if err := y.Decode(&b); err != nil {
			return Node{}, yamlFault(y, "not a boolean")
		}
		return Node{Kind: Bool, Text: strconv.FormatBool(b)}, nil
	case "!!int":
		var i int64
		if err := y.Decode(&i); err != nil {
			return Node{}, yamlFault(y, "integer out of range")
		}
		return Node{Kind: Number, Text: strconv.FormatInt(i, 10)}, nil
	case "!!float":
		var f float64
		if err := y.Decode(&f); err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return Node{}, yamlFault(y, "a number that JSON cannot hold")
		}
		return Node{Kind: Number, Text: strconv.FormatFloat(f, 'g', -1, 64)}, nil
	case "!!str", "!!binary", "!!timestamp":
		return Node{Kind: String, Text: y.Value}, nil
	}
	return Node{}, yamlFault(y, "an unknown tag; put a text that begins with ! in quotes")
}

// isJSONNumber reports whether s is a number in JSON's grammar: no other value of JSON begins and ends as a number does.
func isJSONNumber(s string) bool {
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
	return s != "" && (s[0] == '-' || isDigit(s[0])) && isDigit(s[len(s)-1]) && json.Valid([]byte(s))
}

// Stream splits a stream of YAML documents. A line that begins with --- is a marker at any position (YAML 1.2.2, 9.1.4). Each
// document gets as many empty lines before it as the stream has lines before it, so that line numbers are those of the stream.
func Stream(data []byte) [][]byte {
	var all [][]byte
	var part []byte
	line, said := 0, false
	for text := range bytes.Lines(data) {
		line++
		marker := bytes.TrimRight(text, " \t\r\n")
		if bytes.Equal(marker, []byte("---")) || bytes.Equal(marker, []byte("...")) {
			if said {
				all = append(all, part)
			}
			part, said = bytes.Repeat([]byte("\n"), line), false
			continue
		}
		part = append(part, text...)
		said = said || len(marker) > 0 && bytes.TrimLeft(marker, " ")[0] != '#'
	}
	if said {
		all = append(all, part)
	}
	return all
}
