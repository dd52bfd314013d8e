package main

import (
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/cse"
	"github.com/slipway-dev/slipway/userdata"
)

// maxWhat limits a name, in columns: a key of the contract may have any length.
const maxWhat = 100

// plainTooLarge is a document that is too large and for which the usual advice would be wrong: that is for a document
// with only a contract in base64.
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
	if r.gzip || r.target().gzip == nil {
		return refusal
	}
	document, failed := r.target().gzip(plain)
	if failed != nil {
		return refusal
	}
	packed := len(document)
	if userdata.Cloud(r.cloud.Value).Check(packed) == nil {
		refusal.Hint = fmt.Sprintf("with --gzip it is %d bytes, which fits", packed)
	} else {
		refusal.Hint = fmt.Sprintf("with --gzip it would be %d bytes, which is still too large", packed)
	}
	return refusal
}

// sizes lists the parts of a document that is too large, and what could be shortened, as text for people.
func (r *rendering) sizes(c *contract, parts []userdata.Part, variables []cse.Variable) string {
	var text strings.Builder
	table := func(title string, rows []userdata.Size) { text.WriteString(sizeTable(title, rows)) }
	compressed := ""
	if r.gzip {
		compressed = " before it is compressed"
	}
	if r.to.Value == scriptTarget {
		table("what the script is made of, in bytes"+compressed, variableSizes(variables))
	} else {
		table("what the document is made of, in bytes"+compressed, delivered(c, parts).Sizes(r.target().document))
	}
	table(largestSettings, userdata.Contract{Document: c.Canonical()}.LargestSettings())
	return text.String()
}

// largestSettings is the title of those.
const largestSettings = "the largest settings of the contract, in bytes of JSON"

// sizeTable formats rows below a title. It is empty if there are no rows.
func sizeTable(title string, rows []userdata.Size) string {
	if len(rows) == 0 {
		return ""
	}
	var text strings.Builder
	text.WriteString(title + ":\n")
	for _, row := range rows {
		fmt.Fprintf(&text, "%9d  %s", row.Bytes, cli.Shorten(cli.Line(row.What), maxWhat))
		if row.Instead != "" {
			text.WriteString("; it can be left out: " + row.Instead)
		}
		text.WriteString("\n")
	}
	return text.String()
}

// variableSizes are the largest variables, the total of the others, and the script without any.
func variableSizes(variables []cse.Variable) []userdata.Size {
	rows := make([]userdata.Size, 0, len(variables))
	for _, v := range variables {
		rows = append(rows, userdata.Size{What: v.Name, Bytes: len(v.Name) + len("=") + len(v.Value)})
	}
	bare, _ := cse.Script(nil) // without variables it cannot fail
	return append(userdata.LargestAnd(rows, "all other variables"), userdata.Size{What: "the script without these variables", Bytes: len(bare)})
}
