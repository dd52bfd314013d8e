package userdata

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// Which parts are named if a document is too large.
const (
	// notable is the size in bytes from which a setting is named separately.
	notable = 512
	// mostNamed limits the named things of one kind: the largest are named.
	mostNamed = 8
)

// Size is the size of a part of a document. It never contains a value, because a large value may be a secret.
type Size struct {
	// What is the part: a part of a document, a file, or a setting by its path in the contract.
	What  string
	Bytes int
	// Instead is an alternative, if a node can be without the part. It is empty for a part that the node needs.
	Instead string
}

// instead are the settings that can be left out of a contract, by path, with the alternative. For all others a node has no other
// source.
var instead = []struct{ path, do string }{
	{"files", "put the file into the node image"},
	{"units", "put the unit into the node image"},
	{"commands", "put what they do into the node image"},
	{"trust.certificates", "put them into the image's own store"},
	{"access.messageOfTheDay", "put it into the node image"},
	{"runtime.registries", "put the registries' certificates into the image's own store"},
}

// Sizes returns the parts of the contract's document, in the form that form makes. Each part's size includes all that it adds to
// the document: base64, headers.
func (c Contract) Sizes(form func(Contract) ([]byte, error)) []Size {
	partial := c
	partial.Document, partial.Features, partial.Parts = []byte("{}"), nil, nil
	var rows []Size
	total := 0
	add := func(what, instead string) {
		if made, err := form(partial); err == nil && len(made) > total {
			rows, total = append(rows, Size{what, len(made) - total, instead}), len(made)
		}
	}
	add("what writes the contract and starts the agent", "")
	partial.Document = c.Document
	add(fmt.Sprintf("the contract, which has %d bytes without base64", len(c.Document)), "")
	partial.Features = c.Features
	add("the feature switches of the contract", "")
	for i, part := range c.Parts {
		partial.Parts = c.Parts[:i+1]
		add(fmt.Sprintf("the part %s, which has %d bytes by itself", cmp.Or(part.Name, fmt.Sprint(i+1)), len(part.Content)), "put what it does into the node image")
	}
	return rows
}

// LargestSettings returns the largest settings of the contract, in bytes of JSON, the largest one first.
func (c Contract) LargestSettings() []Size {
	top, err := document.Parse(c.Document)
	if err != nil {
		return nil
	}
	_, rows := settingSizes(top, "$")
	return largest(rows)
}

// settingSizes returns the size of a setting as JSON, and the settings inside it that are worth naming. Small settings count for
// the map or list that contains them, and so does each string in a list.
func settingSizes(n *document.Node, path string) (int, []Size) {
	var rows []Size
	total, rest := 0, 0
	within := func(child *document.Node, path string, name int) {
		bytes, inner := settingSizes(child, path)
		bytes += name
		total += bytes
		if n.Kind == document.List && len(child.Fields) == 0 {
			inner = nil
		}
		for _, row := range inner {
			bytes -= row.Bytes
		}
		rows, rest = append(rows, inner...), rest+bytes
	}
	for i := range n.Fields {
		f := &n.Fields[i]
		within(&f.Value, document.FieldPath(path, f.Name), len(f.Name)+len(`"":,`))
	}
	for i := range n.Items {
		within(&n.Items[i], document.IndexPath(path, i), len(","))
	}
	if n.Kind != document.Map && n.Kind != document.List {
		total = len(n.AppendJSON(nil))
		rest = total
	}
	if rest >= notable && path != "$" {
		row := Size{What: strings.TrimPrefix(path, "$."), Bytes: rest}
		for _, r := range instead {
			if document.Within(row.What, r.path) {
				row.Instead = r.do
			}
		}
		rows = append(rows, row)
	}
	return total, rows
}

// largest returns the rows that are worth naming, the largest one first.
func largest(rows []Size) []Size {
	rows = slices.DeleteFunc(slices.Clone(rows), func(s Size) bool { return s.Bytes < notable })
	slices.SortFunc(rows, func(a, b Size) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.What, b.What)) })
	return rows[:min(len(rows), mostNamed)]
}

// LargestAnd returns the rows that are worth naming, and one more, with a given name, for the sum of the others.
func LargestAnd(rows []Size, others string) []Size {
	named, rest := largest(rows), Size{What: others}
	for _, row := range rows {
		if !slices.Contains(named, row) {
			rest.Bytes += row.Bytes
		}
	}
	return append(named, rest)
}
