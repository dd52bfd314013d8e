package compile

import (
	"fmt"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// MaxDocuments is how many documents a contract may be made of.
const MaxDocuments = 16

// readSeveral reads a contract that is made of several documents. They are merged as they are written, before anything
// is decoded: only there does a false that is said differ from one that is not. What they are together is a document
// like others, within the same limits.
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
		tree, problems := dialect.Parse(d.Data, as.Dialect)
		for _, p := range problems {
			p.Document = c.names[i]
			c.Problems = append(c.Problems, p)
		}
		trees = append(trees, tree)
	}
	if c.Problems == nil && as.Dialect == "" {
		c.refuseMixed(trees)
	}
	if c.Problems != nil {
		return c
	}
	c.merged = document.Merge(trees...)
	c.decoded = dialect.DecodeAs(c.merged.Top.AppendJSON(nil), as)
	c.Dialect, c.Config, c.Problems = c.decoded.Dialect, c.decoded.Config, c.decoded.Problems
	for i, p := range c.Problems {
		c.Problems[i] = c.locate(p)
	}
	return c
}

// refuse adds a problem for which there is no contract.
func (c *Contract) refuse(name, reason string) {
	c.Problems = append(c.Problems, nodeconfig.Problem{Kind: nodeconfig.Invalid, Path: "$", Reason: reason, Fatal: true, Document: name})
}

// refuseMixed refuses documents of more than one dialect, and those of other programs. One that does not say its dialect
// is of that of the others.
func (c *Contract) refuseMixed(trees []*document.Node) {
	first, of := "", ""
	for i, tree := range trees {
		name, another := dialect.Of(tree)
		switch {
		case another != "":
			c.refuse(c.names[i], another)
		case name == "" || name == first:
		case first == "":
			first, of = name, c.names[i]
		default:
			c.refuse(c.names[i], fmt.Sprintf("is of the dialect %s, and %s is of %s; documents that are merged are of one dialect", name, of, first))
		}
	}
}

// locate gives a problem the place in the document that it is from: what it has is the place in what they are together.
func (c *Contract) locate(p nodeconfig.Problem) nodeconfig.Problem {
	if c.merged == nil || p.Document != "" { // it is of none of these
		return p
	}
	p.Line, p.Column, p.Document = 0, 0, ""
	if i, n := c.merged.At(p.Path); n != nil {
		p.Document, p.Line, p.Column = c.names[i], int(n.Line), int(n.Column)
	}
	return p
}
