package userdata

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// Blank is custom data with a gap: a place in the contract's document that differs from machine to machine, such as a bootstrap
// token's. All else is compressed and encoded once. It may be filled by several goroutines, and is treated as secret, as a
// [Contract] is.
//
// The custom data is a gzip file of three members: what comes before the lines of the gap, those lines as they are, and what comes
// after them. Whoever opens such a file reads the members as one document (RFC 1952, 2.2), cloud-init and the agent among them.
type Blank struct {
	// before and after are base64, of the members that are the same for all machines.
	before, after string
	// lines are those of the contract's document that the gap is in.
	lines []byte
	// at is where in lines the gap is, length how long it is.
	at, length int
}

// NewBlank is the custom data of a contract, with a gap of some bytes at a place in its document: where in the document the
// text is that each machine has another of. The errors are those of [CustomData]: a document has to fit without compression, so
// that whether it fits does not depend on how well a version compresses. A gap that is not in the document is a defect of the
// caller.
func NewBlank(c Contract, at, length int) (*Blank, error) {
	document, err := appendMIME(nil, &c, Azure)
	if err != nil {
		return nil, err
	}
	first := at / lineBytes * lineBytes
	last := min((at+length+lineBytes-1)/lineBytes*lineBytes, len(c.Document))
	start := len(hookOpen) + len(boothooks[c.Path].head)
	before, after := document[:start+linesSize(first)], document[start+linesSize(last):]
	return &Blank{
		before: base64.StdEncoding.EncodeToString(appendMember(nil, deflated(before), before)),
		after:  base64.StdEncoding.EncodeToString(appendMember(nil, deflated(after), after)),
		lines:  slices.Clone(c.Document[first:last]), at: at - first, length: length,
	}, nil
}

// Fill is the base64 of the compressed document for a contract with a text in the gap: what [Gzip] of [MIME] says, in other members.
// The text has the length of the gap; one that does not is a defect of the caller.
func (b *Blank) Fill(text string) string {
	if len(text) != b.length {
		panic("userdata: a text of another length than the gap")
	}
	// A token is in two lines at most, for which this is enough.
	var lineRoom, plainRoom, blockRoom, memberRoom, textRoom [6 * lineChars]byte
	lines := append(append(append(lineRoom[:0], b.lines[:b.at]...), text...), b.lines[b.at+b.length:]...)
	plain := appendLines(plainRoom[:0], lines)
	member := appendMember(memberRoom[:0], appendStored(blockRoom[:0], plain), plain)
	encoded := base64.StdEncoding.AppendEncode(textRoom[:0], member)
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
