package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/cse"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/userdata"
)

// What is worth naming where a document is too large.
const (
	// notable is the size in bytes from which something is named by itself.
	notable = 512
	// mostNamed is how many settings, and how many variables, are named: the largest.
	mostNamed = 8
	// maxWhat is how many columns a name has: a key of the contract's may have any length.
	maxWhat = 100
)

// size is how many bytes something has. It never holds a value: what is too large may be a secret.
type size struct {
	what  string
	bytes int
}

// plainTooLarge is a document that is too large, where the usual advice would be wrong: it is for a
// document that has nothing but a contract in base64.
type plainTooLarge struct {
	*userdata.TooLargeError
	document string
}

func (e *plainTooLarge) Error() string {
	return fmt.Sprintf("the %s has %d bytes, and %s takes %d: it is %d bytes too large; large certificates, scripts and files belong in the node image",
		e.document, e.Size, e.Cloud, e.Limit, e.Size-e.Limit)
}

func (e *plainTooLarge) Unwrap() error { return e.TooLargeError }

// tooLarge adds to the error of a document that is too large whether --gzip would help.
func (r *rendering) tooLarge(err *userdata.TooLargeError, plain []byte) error {
	refusal := &cli.Error{Code: exitcode.Invalid, Err: err}
	switch {
	case r.gzip:
		refusal.Err = &plainTooLarge{err, "compressed document"}
	case r.to.Value == scriptTarget:
		refusal.Err = &plainTooLarge{err, "script"}
	case r.agentless, len(r.parts) > 0:
		refusal.Err = &plainTooLarge{err, "document"}
	}
	if r.gzip || !r.target().unpacked {
		return refusal
	}
	packed := len(userdata.Gzip(plain))
	if userdata.Cloud(r.cloud.Value).Check(packed) == nil {
		refusal.Hint = fmt.Sprintf("with --gzip it is %d bytes, which fits", packed)
	} else {
		refusal.Hint = fmt.Sprintf("with --gzip it would be %d bytes, which is still too large", packed)
	}
	return refusal
}

// sizes are what a document that is too large is made of, and what could be shortened, as text for people.
func (r *rendering) sizes(c *contract, parts []userdata.Part, variables []cse.Variable) string {
	var text strings.Builder
	table := func(title string, rows []size) { text.WriteString(sizeTable(title, rows)) }
	compressed := ""
	if r.gzip {
		compressed = " before it is compressed"
	}
	if r.to.Value == scriptTarget {
		table("what the script is made of, in bytes"+compressed, variableSizes(variables))
	} else {
		table("what the document is made of, in bytes"+compressed, r.partSizes(c, parts))
	}
	if top, err := document.Parse(c.Canonical()); err == nil {
		_, rows := settingSizes(top, "$")
		table("the largest settings of the contract, in bytes of JSON", largest(rows))
	}
	return text.String()
}

// sizeTable are rows below a title, nothing where there are none.
func sizeTable(title string, rows []size) string {
	if len(rows) == 0 {
		return ""
	}
	var text strings.Builder
	text.WriteString(title + ":\n")
	for _, row := range rows {
		fmt.Fprintf(&text, "%9d  %s\n", row.bytes, cli.Shorten(cli.Line(row.what), maxWhat))
	}
	return text.String()
}

// partSizes are what a document is made of. Each part counts with all that it adds to the document: base64, headers.
func (r *rendering) partSizes(c *contract, parts []userdata.Part) []size {
	given := delivered(c)
	partial := given
	partial.Document, partial.Features = []byte("{}"), nil
	var rows []size
	total := 0
	add := func(what string) {
		if made, err := r.target().document(partial); err == nil && len(made) > total {
			rows, total = append(rows, size{what, len(made) - total}), len(made)
		}
	}
	add("what writes the contract and starts the agent")
	partial.Document = given.Document
	add(fmt.Sprintf("the contract, which has %d bytes without base64", len(given.Document)))
	partial.Features = given.Features
	add("the feature switches of the contract")
	for i, file := range r.partFiles() {
		partial.Parts = parts[:i+1]
		add(fmt.Sprintf("the part %s, which has %d bytes by itself", placeName(file), len(parts[i].Content)))
	}
	return rows
}

// variableSizes are the largest variables, all others, and the script without any.
func variableSizes(variables []cse.Variable) []size {
	var rows []size
	others := size{what: "all other variables"}
	bare, _ := cse.Script(nil) // there is no variable that it could refuse
	for _, v := range variables {
		rows = append(rows, size{v.Name, len(v.Name) + len("=") + len(v.Value)})
	}
	named := largest(rows)
	for _, row := range rows {
		if !slices.Contains(named, row) {
			others.bytes += row.bytes
		}
	}
	return append(named, others, size{"the script without these variables", len(bare)})
}

// settingSizes returns the size of a setting as JSON, and the settings within that are worth naming. What is small counts for
// the map or the list that it is in, and so does each text in a list.
func settingSizes(n *document.Node, path string) (int, []size) {
	var rows []size
	total, rest := 0, 0
	within := func(child *document.Node, path string, name int) {
		bytes, inner := settingSizes(child, path)
		bytes += name
		total += bytes
		if n.Kind == document.List && len(child.Fields) == 0 {
			inner = nil
		}
		for _, row := range inner {
			bytes -= row.bytes
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
		rows = append(rows, size{strings.TrimPrefix(path, "$."), rest})
	}
	return total, rows
}

// largest are the rows that are worth naming, the largest one first.
func largest(rows []size) []size {
	rows = slices.DeleteFunc(slices.Clone(rows), func(s size) bool { return s.bytes < notable })
	slices.SortFunc(rows, func(a, b size) int { return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.what, b.what)) })
	return rows[:min(len(rows), mostNamed)]
}
