package userdata

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// What is worth naming where a document is too large.
const (
	// notable is the size in bytes from which something is named by itself.
	notable = 512
	// mostNamed is how many things of one kind are named: the largest.
	mostNamed = 8
)

// Size is how many bytes something in a document has. It never holds a value: what is too large may be a secret.
type Size struct {
	// What it is: a part of a document, a file, or a setting by its path in the contract.
	What  string
	Bytes int
	// Instead says what could be done instead, where a node can be without it; empty for what it needs.
	Instead string
}

// instead is what can be left out of a contract, by its path, and what to do instead. Of all else a node has no other source.
var instead = []struct{ path, do string }{
	{"files", "put the file into the node image"},
	{"units", "put the unit into the node image"},
	{"commands", "put what they do into the node image"},
	{"trust.certificates", "put them into the image's own store"},
	{"access.messageOfTheDay", "put it into the node image"},
	{"runtime.registries", "put the registries' certificates into the image's own store"},
}

// Sizes are what the document of the contract is made of, in the form that a function makes. Each part counts with all that it adds to the
// document: base64, headers.
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

// LargestSettings are the largest settings of the contract, in bytes of JSON, the largest one first.
func (c Contract) LargestSettings() []Size {
	top, err := document.Parse(c.Document)
	if err != nil {
		return nil
	}
	_, rows := settingSizes(top, "$")
	return largest(rows)
}

// settingSizes returns the size of a setting as JSON, and the settings within that are worth naming. What is small counts for
// the map or the list that it is in, and so does each text in a list.
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

// largest are the rows that are worth naming, the largest one first.
func largest(rows []Size) []Size {
	rows = slices.DeleteFunc(slices.Clone(rows), func(s Size) bool { return s.Bytes < notable })
	slices.SortFunc(rows, func(a, b Size) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.What, b.What)) })
	return rows[:min(len(rows), mostNamed)]
}

// LargestAnd are the rows that are worth naming, and one with a name for all others together.
func LargestAnd(rows []Size, others string) []Size {
	named, rest := largest(rows), Size{What: others}
	for _, row := range rows {
		if !slices.Contains(named, row) {
			rest.Bytes += row.Bytes
		}
	}
	return append(named, rest)
}
