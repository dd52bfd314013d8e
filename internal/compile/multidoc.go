package compile

import (
	"cmp"
	"fmt"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// MaxDocuments limits the documents of a contract.
const MaxDocuments = 16

// readSeveral reads a contract of several documents. It merges them before anything is decoded, because only the documents
// distinguish an explicit false from an unset field. The result is a document like others, with the same limits.
func readSeveral(documents []Document, as Reading) *Contract {
	c := &Contract{Dialect: as.Dialect, Config: new(nodeconfig.NodeConfig)}
	if n := len(documents); n == 0 || n > MaxDocuments {
		c.refuse("", fmt.Sprintf("is made of %d documents; use 1 to %d", n, MaxDocuments))
		return c
	}
	var trees []*document.Node
	for i, d := range documents {
		c.names = append(c.names, d.Name)
		if d.Name == "" {
			c.names[i] = fmt.Sprintf("document %d", i+1)
		}
		d, problems := unwrap(Document{c.names[i], d.Data}, as)
		c.names[i] = d.Name
		var tree *document.Node
		if problems == nil {
			tree, problems = dialect.Parse(d.Data, as.Dialect)
		}
		for _, p := range problems {
			p.Document = c.names[i]
			c.Problems = append(c.Problems, p)
		}
		trees = append(trees, tree)
	}
	if c.Problems == nil && as.Dialect == "" {
		trees = c.apart(trees)
	}
	if c.Problems != nil {
		return c
	}
	c.merged = document.Merge(trees...)
	c.decoded = dialect.DecodeAs(c.merged.Top.AppendJSON(nil), as)
	if c.native != nil && c.decoded.IsDocument() {
		c.decoded = c.decoded.Extend(&c.native.Top)
	}
	c.Dialect, c.Config, c.Problems = c.decoded.Dialect, c.decoded.Config, c.decoded.Problems
	for i, p := range c.Problems {
		c.Problems[i] = c.locate(p)
	}
	return c
}

// refuse adds a fatal problem of the whole contract.
func (c *Contract) refuse(name, reason string) {
	c.Problems = append(c.Problems, nodeconfig.Problem{Kind: nodeconfig.Invalid, Path: "$", Reason: reason, Fatal: true, Document: name})
}

// apart returns the documents without the native ones that are merged over them. It refuses documents of other programs, and of
// dialects that cannot be merged. A document that names no dialect has the dialect of the others.
func (c *Contract) apart(trees []*document.Node) []*document.Node {
	first, of := "", ""
	var names, nativeNames []string
	var rest, native []*document.Node
	for i, tree := range trees {
		name, another := dialect.Of(tree)
		switch {
		case another != "":
			c.refuse(c.names[i], another)
		case name == dialect.Native:
			native, nativeNames = append(native, tree), append(nativeNames, c.names[i])
			continue
		case name == "" || name == first:
		case first == "":
			first, of = name, c.names[i]
		default:
			c.refuse(c.names[i], fmt.Sprintf("is of the dialect %s, and %s is of %s; documents that are merged are of one dialect", name, of, first))
		}
		rest, names = append(rest, tree), append(names, c.names[i])
	}
	switch {
	case len(native) == 0 || first == "":
		return trees
	case !dialect.Extends(first):
		c.refuse(of, fmt.Sprintf("is of the dialect %s, and %s is of %s; documents that are merged are of one dialect", first, nativeNames[0], dialect.Native))
		return trees
	}
	c.names, c.nativeNames, c.native = names, nativeNames, document.Merge(native...)
	return rest
}

// locate sets the document and position of a problem, whose position so far is in the merged document.
func (c *Contract) locate(p nodeconfig.Problem) nodeconfig.Problem {
	if c.merged == nil || p.Document != "" { // it concerns no single document
		p.Document = cmp.Or(p.Document, c.wrapped)
		return p
	}
	p.Line, p.Column, p.Document = 0, 0, ""
	for _, of := range []struct {
		merged *document.Merged
		names  []string
	}{{c.merged, c.names}, {c.native, c.nativeNames}} {
		if of.merged == nil {
			continue
		}
		if i, n := of.merged.At(p.Path); n != nil {
			p.Document, p.Line, p.Column = of.names[i], int(n.Line), int(n.Column)
			break
		}
	}
	return p
}
