package userdata

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// Blank is custom data with a gap: a position in the contract's document whose text differs from machine to machine, such as a
// bootstrap token. All else is compressed and encoded once. Several goroutines may fill it. Treat it as secret, like a [Contract].
//
// The custom data is a gzip file of three members: the part before the lines of the gap, those lines uncompressed, and the part
// after them. A program that opens such a file reads the members as one document (RFC 1952, 2.2); cloud-init and the agent do.
type Blank struct {
	// before and after are base64 of the members that are the same for all machines.
	before, after string
	// lines are the lines of the contract's document with the gap.
	lines []byte
	// at is the gap's position in lines, length its length.
	at, length int
}

// NewBlank returns the custom data of a contract, with a gap of length bytes at a position in its document, where each machine has
// another text. The errors are those of [CustomData]: the document must fit without compression, so that the result does not depend
// on how well a version compresses. A gap outside the document is a bug of the caller.
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

// Fill returns the base64 of the compressed document for a contract with text in the gap: the content of [Gzip] of [MIME], in other
// members. text must have the length of the gap; another length is a bug of the caller.
func (b *Blank) Fill(text string) string {
	if len(text) != b.length {
		panic("userdata: a text of another length than the gap")
	}
	// A token is in at most two lines, for which this is enough.
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

// String names the blank without its content.
func (b Blank) String() string { return "custom data with a gap [redacted]" }

// Format writes String for every verb.
func (b Blank) Format(f fmt.State, _ rune) { fmt.Fprint(f, b.String()) }
