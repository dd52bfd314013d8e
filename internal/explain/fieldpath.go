package explain

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/kubeletapi"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// position is a field of a document: its path, whether it is set or not, and its shape.
type position struct {
	// steps are its path in the document's spelling, first in the schema's.
	steps, first []step
	shape        *shape
}

// unknownError means that a path has no field.
type unknownError struct{ at, reason string }

func (e *unknownError) Error() string { return e.at + ": " + e.reason }

// find follows a path as a person writes it: with or without "$.", and with the names of a map's fields in quotes and
// brackets or without, even if they contain dots.
func (c *catalog) find(path string, tree *document.Node) (*position, error) {
	p, n, rest := &position{shape: c.root}, tree, strings.TrimPrefix(strings.TrimSpace(path), "$")
	for rest = strings.TrimPrefix(rest, "."); rest != ""; rest = strings.TrimPrefix(rest, ".") {
		var err error
		switch s := p.shape; {
		case s.Items != nil || s.isFree() && (n != nil && n.Kind == document.List || n == nil && c.inside(p) == kubeletapi.Items):
			rest, err = p.item(c, n, rest)
		case s.isStruct():
			rest, err = p.property(c, n, rest)
		case s.isMap() || s.isFree() && (n == nil || n.Kind == document.Map):
			rest, err = p.entry(c, n, rest)
		default:
			err = &unknownError{pathOf(p.first), "has nothing below it"}
		}
		if err != nil {
			return nil, err
		}
		n = lookUp(tree, p.steps)
	}
	return p, nil
}

// inside describes the content of a field whose data the schema passes through: the kubelet's settings are known.
func (c *catalog) inside(p *position) kubeletapi.Inside {
	if names, ok := c.kubeletField(p); ok {
		return kubeletapi.InsideField(names)
	}
	return kubeletapi.Other
}

// kubeletField returns the names from the kubelet's configuration to a position, if it is inside that.
func (c *catalog) kubeletField(p *position) (names []string, ok bool) {
	if c.dialect != dialect.Native || len(p.first) < 3 || pathOf(p.first[:2]) != "$.kubelet.config" {
		return nil, false
	}
	for _, s := range p.first[2:] {
		names = append(names, s.name)
	}
	return names, true
}

// enter moves to a nested value. A value without a schema has the description of its parent.
func (p *position) enter(spelled, first step, s *shape) {
	if s.Description == "" && p.shape.Description != "" && len(p.steps) > 0 {
		described := *s
		described.Description = p.shape.Description
		s = &described
	}
	p.steps, p.first, p.shape = append(p.steps, spelled), append(p.first, first), s
}

func (p *position) property(c *catalog, n *document.Node, rest string) (string, error) {
	name, rest, err := cutName(rest)
	if err != nil {
		return "", err
	}
	s, first, ok := c.property(p.shape, name)
	if !ok {
		return "", &unknownError{document.FieldPath(pathOf(p.first), name), "there is no such field"}
	}
	spelled := name
	if n != nil {
		for _, f := range n.Fields { // the document may use the field's other name
			if _, other, ok := c.property(p.shape, f.Name); ok && other == first {
				spelled = f.Name
			}
		}
	}
	p.enter(field(spelled), field(first), s)
	return rest, nil
}

func (p *position) entry(c *catalog, n *document.Node, rest string) (string, error) {
	below := anything
	if p.shape.isMap() {
		below = c.follow(p.shape.Additional.shape)
	}
	below = secretToo(below, p.shape)
	if rest[0] != '[' {
		// Names may contain dots. If nothing can be nested in one, the whole rest is a name; otherwise it is an
		// existing one.
		single := p.shape.isMap() && !below.isStruct() && !below.isMap() && below.Items == nil
		if single || c.inside(p) == kubeletapi.Values {
			p.enter(field(rest), field(rest), below)
			return "", nil
		}
		if key, after, ok := longestName(n, rest); ok {
			p.enter(field(key), field(key), below)
			return after, nil
		}
	}
	name, rest, err := cutName(rest)
	if err == nil {
		p.enter(field(name), field(name), below)
	}
	return rest, err
}

func (p *position) item(c *catalog, n *document.Node, rest string) (string, error) {
	below := anything
	if p.shape.Items != nil {
		below = c.follow(p.shape.Items)
	}
	number, after, found := strings.Cut(strings.TrimPrefix(rest, "["), "]")
	i, err := strconv.Atoi(number)
	if !found || rest[0] != '[' || err != nil || i < 0 {
		return "", &unknownError{pathOf(p.first), "is a list: name an item, such as [0]"}
	}
	length := 0
	if n != nil {
		length = len(n.Items)
	}
	if i > length { // the next item can be explained, like a field that is not set
		return "", &unknownError{pathOf(append(p.first, item(i))), fmt.Sprintf("does not exist: the list has %d", length)}
	}
	p.enter(item(i), item(i), secretToo(below, p.shape))
	return after, nil
}

// secretToo marks a secret's parts as secret.
func secretToo(s, above *shape) *shape {
	if !above.WriteOnly || s.WriteOnly {
		return s
	}
	hidden := *s
	hidden.WriteOnly = true
	return &hidden
}

// longestName returns the longest name of a field of n that is a prefix of rest.
func longestName(n *document.Node, rest string) (name, after string, ok bool) {
	if n == nil {
		return "", "", false
	}
	for _, candidate := range document.FieldNames(n) {
		tail, begins := strings.CutPrefix(rest, candidate)
		if begins && len(candidate) > len(name) && (tail == "" || tail[0] == '.' || tail[0] == '[') {
			name, after, ok = candidate, tail, true
		}
	}
	return name, after, ok
}

// cutName cuts a name off the beginning of a path: name, ["name"] or ['name'].
func cutName(rest string) (name, after string, err error) {
	if rest[0] != '[' {
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		return rest[:end], rest[end:], nil
	}
	if quoted, quoteErr := strconv.QuotedPrefix(rest[1:]); quoteErr == nil && quoted[0] == '"' {
		name, _ = strconv.Unquote(quoted)
		after, ok := strings.CutPrefix(rest[1+len(quoted):], "]")
		if ok {
			return name, after, nil
		}
	}
	if single, ok := strings.CutPrefix(rest, "['"); ok {
		if name, after, ok := strings.Cut(single, "']"); ok {
			return name, after, nil
		}
	}
	return "", "", &unknownError{rest, `write the name in brackets as ["name"]`}
}
