//go:build crosscheck

package crosscheck

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"mime/quotedprintable"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// contractTypes are the media types of parts with a contract. cloud-init knows none of them, and decodes them like all others.
var contractTypes = []string{"text/x-slipway-config", "application/vnd.slipway.nodeconfig+json", "application/vnd.slipway.nodeconfig+yaml"}

// TestMIME compares the parts that both read from a MIME message.
func TestMIME(t *testing.T) {
	s := study{"message", askParts, lineEnds, func(a *answer) bool { return a.Load == "" }, expectedParts, partDifferences}
	s.run(t, *documents/10)
}

// lineEnds ends a message's lines as mail does, or not. Messages get no other damage, because Python's email package accepts
// everything.
func lineEnds(g *generator, text string) string {
	if g.IntN(3) == 0 {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	}
	return text
}

// expectedParts is a message of the parts with contracts, as cloud-init decoded them.
func expectedParts(a *answer) result {
	var b bytes.Buffer
	b.WriteString("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n")
	for _, p := range a.Parts {
		if slices.Contains(contractTypes, p.Type) {
			fmt.Fprintf(&b, "--b\nContent-Type: %s\nContent-Transfer-Encoding: base64\n\n%s\n", p.Type, base64.StdEncoding.EncodeToString(p.Body))
		}
	}
	b.WriteString("--b--\n")
	return open(b.Bytes())
}

func init() {
	for symbol, choices := range messageGrammar {
		grammar[symbol] = choices
	}
	terminals["qp"] = func(g *generator) string {
		var b bytes.Buffer
		w := quotedprintable.NewWriter(&b)
		w.Write([]byte(g.content()))
		w.Close()
		return b.String()
	}
	terminals["raw"] = func(g *generator) string { return ascii(g.content()) }
	terminals["b64body"] = func(g *generator) string { return wrapped(encoded(g.content()), 10+g.IntN(70)) }
	terminals["oddb64body"] = func(g *generator) string { return g.odd(oddBase64, encoded(g.content())) }
}

// ascii is a text without its other signs.
func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		if r > 127 {
			return -1
		}
		return r
	}, s)
}

// wrapped is a text cut into lines.
func wrapped(s string, width int) string {
	var b []byte
	for i := range len(s) {
		if i > 0 && i%width == 0 {
			b = append(b, '\n')
		}
		b = append(b, s[i])
	}
	return string(b)
}

var messageGrammar = map[string][]choice{
	"message": {
		{20, "<mhead>\n<preamble>--b\n<mparts>--b--\n<epilogue>"},
		{2, "<mhead>\n<preamble>--b\n<mparts>--b--"},
		{1, "<mhead>\n<preamble>--b\n<mparts>--b\n"},
		{1, "<mhead>\n--b \t\n<mparts>--b-- \n"},
		{2, "<mhead>\n--b\nContent-Type: multipart/alternative; boundary=\"c d\"\n\n--c d\n<mpart>\n--c d--\n\n--b--\n"},
		{1, "<mhead>\n--b\nContent-Type: multipart/alternative; boundary=bc\n\n--bc\n<mpart>\n--bc--\n\n--b--\n"},
		{2, "MIME-Version: 1.0\n<ctype><cbody>\n"},
	},
	"mhead": {
		{10, "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n"}, {4, "Content-Type: multipart/mixed; boundary=\"b\"\nMIME-Version: 1.0\n"},
		{2, "From nobody Thu Jan  1 00:00:00 1970\nContent-Type: multipart/mixed; boundary=b\nMIME-Version: 1.0\n"},
		{2, "Content-Type: multipart/mixed;\n boundary=b\nMIME-Version: 1.0\nNumber-Attachments: 1\n"}, {1, "content-type: Multipart/Mixed; BOUNDARY=b\nmime-version: 1.0\n"},
		{1, "Subject: a: b\n\tc\nMIME-Version: 1.0\nContent-Type: multipart/mixed; charset=utf-8; boundary=\"b\" ; x=y\n"},
	},
	"preamble": {{5, ""}, {2, "for readers without MIME\n"}, {1, "\n\n"}},
	"epilogue": {{5, ""}, {1, "the end\n"}, {1, "--b\n"}, {1, "\n"}},
	"mparts":   {{5, "<mpart>\n"}, {3, "<mother>\n--b\n<mpart>\n"}, {3, "<mpart>\n--b\n<mother>\n"}, {1, "<mpart>\n--b\n<mpart>\n"}, {1, "<mother>\n"}},
	"mother":   {{2, "Content-Type: image/png\n\nhello"}, {1, "Content-Type: text/x-shellscript\n\n#!/bin/sh\nexit 0"}, {1, "\nhello"}, {1, "Content-Type: text/plain; charset=latin-1\n\nhello"}},
	"mpart":    {{8, "<ctype><cbody>"}, {1, "X-Y: z\n<ctype><cbody>"}, {1, "<ctype>Content-Disposition: attachment; filename=\"a\"\n<cbody>"}},
	"ctype": {
		{6, "Content-Type: text/x-slipway-config\n"}, {2, "Content-Type: application/vnd.slipway.nodeconfig+json\n"}, {2, "Content-Type: application/vnd.slipway.nodeconfig+yaml\n"},
		{3, "Content-Type: text/x-slipway-config; charset=\"utf-8\"\n"}, {1, "Content-Type: text/x-slipway-config;\n charset=us-ascii\n"}, {1, "CONTENT-TYPE: Text/X-Slipway-Config\n"}, {1, "Content-Type:text/x-slipway-config\n"},
		{1, "Content-Type: text/x-slipway-config; charset=latin-1\n"}, {1, "Content-Type: text/x-slipway-config;\n"}, {1, "Content-Type: text/x-slipway-config; name=a; name=b\n"}, {1, "Content-Type: image/png\nContent-Type: text/x-slipway-config\n"},
	},
	"cbody": {
		{4, "\n<raw>"}, {2, "Content-Transfer-Encoding: 7bit\n\n<raw>"}, {1, "Content-Transfer-Encoding: 8BIT\n\n<raw>"}, {1, "Content-Transfer-Encoding: binary\n\n<raw>"},
		{6, "Content-Transfer-Encoding: base64\n\n<b64body>"}, {2, "content-transfer-encoding: BASE64\n\n<b64body>\n"}, {1, "Content-Transfer-Encoding: base64\n\n<oddb64body>"},
		{4, "Content-Transfer-Encoding: quoted-printable\n\n<qp>"}, {1, "Content-Transfer-Encoding: quoted-printable\n\n<raw>"}, {1, "Content-Transfer-Encoding: quoted-printable\n\n<qp>=Z"}, {1, "Content-Transfer-Encoding: x-other\n\n<raw>"},
		{1, "Content-Transfer-Encoding: base64 \n\n<b64body>"}, {1, "Content-Transfer-Encoding: \"base64\"\n\n<b64body>"},
	},
}

// paddedName is an encoding's name with white space after it.
var paddedName = regexp.MustCompile(`(?i)-encoding: base64 +\r?\n`)

// spaceAtEnd is white space at a line's end in a message with such a part.
var spaceAtEnd = regexp.MustCompile(`(?is)-encoding: quoted-printable.*[ \t]\r?\n`)

// partDifferences are all differences for messages.
var partDifferences = []difference{
	{"read: an encoding's name with white space after it",
		"Python's email package does not know it, and takes the part as it is.",
		func(c *comparison) bool { return paddedName.Match(c.document) }},
	{"read: white space at the ends of lines in quoted-printable is not part of the text",
		"RFC 2045, section 6.7, rule 3; Python's email package keeps it.",
		func(c *comparison) bool {
			if c.ours.says("holds contracts that differ") { // for cloud-init they are the same with that white space
				return c.want.err == nil && spaceAtEnd.Match(c.document)
			}
			return c.ours.err == nil && c.want.err == nil && bytes.Equal(stripped(c.ours.contract.Data), stripped(c.want.contract.Data))
		}},
	refused("What is not decoded is no contract's text; cloud-init takes it as it is.", "the transfer encoding is unknown"),
	refused("It may be cut short; cloud-init takes what there is.", "the multipart body does not end"),
	refused("cloud-init passes over other signs, and so over a damaged text.", "the base64 has a character that is not part of base64"),
	refused("cloud-init adds padding that is not there, and passes over what is too much.", "the base64 is cut short, or has too many characters"),
}

// stripped is text without the white space at the ends of its lines.
func stripped(text []byte) []byte {
	return regexp.MustCompile(`(?m)[ \t\r]+$`).ReplaceAll(text, nil)
}
