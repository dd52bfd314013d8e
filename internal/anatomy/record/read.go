package record

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/redact"
)

// Options are what is known before the documents are read.
type Options struct {
	// Boot is the ID of the boot to read, or its beginning. Empty means the newest one.
	Boot string
	// Host is the machine's name. Empty means that a document has it.
	Host string
}

// known is a document with its kind.
type known struct {
	Document
	kind *Kind
	sink *sink
}

// Read reads documents, in the order of their kinds: the cluster's view is last, because it has several machines.
func Read(documents []Document, options Options) *Records {
	r := &Records{Host: options.Host}
	var entries []entry
	list := r.sort(documents)
	for i := range list {
		d := &list[i]
		d.sink.entries = &entries
		if d.kind.Name != clusterKind {
			d.kind.parse(d.sink, d.Data)
		}
	}
	r.readEntries(entries, options.Boot)
	var objects []object
	for _, d := range list {
		if d.kind.Name == clusterKind {
			quiet := sink{Records: &Records{}}
			objects = append(objects, quiet.objects(d.Data)...)
		}
	}
	r.findNode(objects)
	for _, d := range list {
		if d.kind.Name == clusterKind {
			d.kind.parse(d.sink, d.Data)
		}
		r.Sources = append(r.Sources, Source{Document: d.sink.document, Kind: d.kind.Name, Records: d.sink.count, OtherBoots: d.sink.others})
	}
	return r
}

// sort finds the documents' kinds, and orders them by their kinds and names. It names those that are of none, too many or too large.
func (r *Records) sort(documents []Document) []known {
	var list []known
	for _, d := range documents {
		k := known{Document: d, kind: kindOf(d), sink: &sink{Records: r, document: Clean(d.Name)}}
		if k.kind == nil {
			k.sink.unread(0, len(d.Data), "no kind of document is known by this name or content")
			continue
		}
		list = append(list, k)
	}
	slices.SortStableFunc(list, func(a, b known) int {
		return cmp.Or(cmp.Compare(a.kind.order(), b.kind.order()), cmp.Compare(a.Name, b.Name))
	})
	if n := len(list) - maxDocuments; n > 0 {
		list[maxDocuments].sink.unread(0, 0, "there are more than %d documents; this one and %d others were not read", maxDocuments, n-1)
		list = list[:maxDocuments]
	}
	for i := range list {
		if d := &list[i]; len(d.Data) > maxDocument {
			d.sink.unread(0, len(d.Data)-maxDocument, "the document is larger than %d bytes; its end was not read", maxDocument)
			d.Data = d.Data[:maxDocument]
		}
	}
	return list
}

// Clean prepares a text from a document for a reader: one line, without secrets and control characters, and short.
func Clean(text string) string {
	if len(text) > mostCleaned {
		// The last word may be a part of a secret, which nothing would recognize.
		text = text[:mostCleaned]
		text = text[:strings.LastIndexAny(text, " \t\n")+1]
	}
	return redact.Line(text, maxText)
}

// mostCleaned is how much of a text is searched for secrets; a reader gets less.
const mostCleaned = 4 * maxText
