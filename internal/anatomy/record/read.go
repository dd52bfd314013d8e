package record

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/redact"
)

// Read reads documents. boot is the ID of the boot to read, or its beginning; empty means the newest one.
func Read(documents []Document, boot string) *Records {
	r := &Records{}
	documents = slices.Clone(documents)
	slices.SortStableFunc(documents, func(a, b Document) int { return cmp.Compare(a.Name, b.Name) })
	var entries []entry
	var sinks []*sink
	for i, d := range documents {
		s := &sink{Records: r, document: Clean(d.Name)}
		if i == maxDocuments {
			s.unread(0, 0, "there are more than %d documents; this one and the later ones were not read", maxDocuments)
			break
		}
		kind := kindOf(d)
		if kind == nil {
			s.unread(0, len(d.Data), "no kind of document is known by this name or content")
			continue
		}
		if len(d.Data) > maxDocument {
			s.unread(0, len(d.Data)-maxDocument, "the document is larger than %d bytes; its end was not read", maxDocument)
			d.Data = d.Data[:maxDocument]
		}
		s.entries = &entries
		kind.parse(s, d.Data)
		sinks = append(sinks, s)
		r.Sources = append(r.Sources, Source{Document: s.document, Kind: kind.Name})
	}
	r.readEntries(entries, boot)
	for i, s := range sinks {
		r.Sources[i].Records, r.Sources[i].OtherBoots = s.count, s.others
	}
	return r
}

// Clean prepares a text from a document for a reader: one line, without secrets and control characters, and short.
func Clean(text string) string {
	if len(text) > mostCleaned {
		// The last word may be a part of a secret, which nothing would recognize.
		text = text[:mostCleaned]
		text = text[:strings.LastIndexAny(text, " \t\n")+1]
	}
	plain := len(text) <= maxText
	for i := 0; plain && i < len(text); i++ {
		plain = text[i] >= ' ' && text[i] <= '~'
	}
	if plain && !suspicious(text) {
		return text
	}
	return redact.Line(text, maxText)
}

// mostCleaned is how much of a text is searched for secrets; a reader gets less.
const mostCleaned = 4 * maxText

// suspicious reports whether a text may have a secret. All forms that package redact knows have one of these characters or words; a
// unit's name or a module's name has none of them, and the patterns cost more than everything else here.
func suspicious(text string) bool {
	if strings.ContainsAny(text, "=:@?;") {
		return true
	}
	lower := strings.ToLower(text)
	for _, word := range [...]string{"token", "bearer", "eyj", "authorization", "cookie", "--", "key", "aws-v1", "pass", "secret", "proxy"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return tokenLike(text)
}

// tokenLike reports whether a text has a dot with at least six characters before it and sixteen after it, as a bootstrap token has.
func tokenLike(text string) bool {
	for i := 6; i+16 < len(text); i++ {
		if text[i] == '.' && !strings.ContainsAny(text[i-6:i], " /") && !strings.ContainsAny(text[i+1:i+17], " /.-_") {
			return true
		}
	}
	return false
}
