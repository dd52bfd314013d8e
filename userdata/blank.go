package userdata

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// Blank is custom data with a gap: a place in the contract's document that differs from machine to machine, such as a bootstrap
// token's. All else is encoded once. It may be filled by several goroutines, and is treated as secret, as a [Contract] is.
type Blank struct {
	// before and after are base64, of what is the same for all machines.
	before, after string
	// lines are the lines of the document that the gap is in, begin and end what stands before and after them in the same groups
	// of three bytes.
	begin, lines, end []byte
	// at is where in lines the gap is, length how long it is.
	at, length int
}

// NewBlank is the custom data of a contract, with a gap of some bytes at a place in its document: where in the document the
// text is that each machine has another of. The errors are those of [CustomData]. A gap that is not in the document is a
// defect of the caller.
func NewBlank(c Contract, at, length int) (*Blank, error) {
	document, err := appendMIME(nil, &c, Azure)
	if err != nil {
		return nil, err
	}
	first := at / lineBytes * lineBytes
	last := min((at+length+lineBytes-1)/lineBytes*lineBytes, len(c.Document))
	// Where those lines are in the MIME document, and the groups that they are in.
	start := len(hookOpen) + len(boothooks[c.Path].head)
	from, to := start+linesSize(first), start+linesSize(last)
	begin, end := from-from%base64Bytes, min(to+(base64Bytes-to%base64Bytes)%base64Bytes, len(document))
	return &Blank{
		before: base64.StdEncoding.EncodeToString(document[:begin]), after: base64.StdEncoding.EncodeToString(document[end:]),
		begin: document[begin:from], lines: slices.Clone(c.Document[first:last]), end: document[to:end],
		at: at - first, length: length,
	}, nil
}

// base64Bytes are so many bytes of which base64 makes characters without looking at others.
const base64Bytes = 3

// Fill is what [CustomData] returns for the contract with a text in the gap. It has the length of the gap; a text that does not
// is a defect of the caller.
func (b *Blank) Fill(text string) string {
	if len(text) != b.length {
		panic("userdata: a text of another length than the gap")
	}
	// A token is in two lines at most, for which this is enough.
	var lineRoom, groupRoom, textRoom [4 * lineChars]byte
	lines := append(append(append(lineRoom[:0], b.lines[:b.at]...), text...), b.lines[b.at+b.length:]...)
	groups := append(appendLines(append(groupRoom[:0], b.begin...), lines), b.end...)
	encoded := base64.StdEncoding.AppendEncode(textRoom[:0], groups)
	var whole strings.Builder
	whole.Grow(len(b.before) + len(encoded) + len(b.after))
	whole.WriteString(b.before)
	whole.Write(encoded)
	whole.WriteString(b.after)
	return whole.String()
}

// String names the blank without telling what it says.
func (b Blank) String() string { return "custom data with a gap [redacted]" }

// Format writes String for every verb.
func (b Blank) Format(f fmt.State, _ rune) { fmt.Fprint(f, b.String()) }
