package anatomy

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/anatomy/gathered"
	"github.com/slipway-dev/slipway/internal/anatomy/record"
)

// maxSaved limits the size of a timeline that is read again.
const maxSaved = 64 << 20

// saved is a timeline that was printed before, by slipway anatomy -o json.
type saved struct {
	name     string
	timeline Timeline
	err      error
	size     int
}

// opened replaces each set of documents of a node by its documents. missing is what the nodes could not read.
func opened(documents []Document) (all []Document, missing []record.Unread) {
	for _, d := range documents {
		if !bytes.Contains(d.Data[:min(len(d.Data), headSize)], []byte(`"`+gathered.Kind+`"`)) || len(d.Data) > maxSaved {
			all = append(all, d)
			continue
		}
		set, err := gathered.Parse(d.Data)
		if err != nil {
			missing = append(missing, record.Unread{Document: record.Clean(d.Name), Bytes: len(d.Data), Reason: record.Clean(err.Error())})
			continue
		}
		for _, inner := range set.Documents {
			if isBeside(documents, inner.Name) {
				continue
			}
			all = append(all, Document{Name: inner.Name, Data: []byte(inner.Text)})
		}
		for _, m := range set.Missing {
			missing = append(missing, record.Unread{Document: record.Clean(m.Name), Reason: record.Clean("the node could not read it: " + m.Why)})
		}
	}
	return all, missing
}

// isBeside reports whether the documents have a file of a set themselves, as a bundle has: below a directory, at its path.
func isBeside(documents []Document, name string) bool {
	return strings.HasPrefix(name, "/") && slices.ContainsFunc(documents, func(d Document) bool { return strings.HasSuffix(d.Name, name) })
}

// headSize is how far the kind of a document is looked for.
const headSize = 1024

// splitSaved separates the timelines from the other documents.
func splitSaved(documents []Document) (rest []Document, timelines []saved) {
	for _, d := range documents {
		head := d.Data[:min(len(d.Data), headSize)]
		if !bytes.Contains(head, []byte(`"`+Kind+`"`)) || len(d.Data) > maxSaved {
			rest = append(rest, d)
			continue
		}
		s := saved{name: d.Name, size: len(d.Data)}
		s.err = json.Unmarshal(d.Data, &s.timeline)
		timelines = append(timelines, s)
	}
	return rest, timelines
}

// restore adds a timeline's records to others.
func (s *saved) restore(r *record.Records) {
	t := &s.timeline
	if s.err != nil || t.APIVersion != APIVersion {
		reason := "a timeline of another version: " + record.Clean(t.APIVersion)
		if s.err != nil {
			reason = "not a timeline, or cut: " + record.Clean(s.err.Error())
		}
		r.Unread = append(r.Unread, record.Unread{Document: record.Clean(s.name), Bytes: s.size, Reason: reason})
		return
	}
	if r.Host == "" {
		r.Host = record.Clean(t.Host)
	}
	if r.Boot == "" {
		r.Boot = record.Clean(t.Boot)
	}
	for _, g := range t.Clock.Segments {
		for _, at := range []int64{g.StartUs, g.EndUs} {
			r.Pairs = append(r.Pairs, record.Pair{Monotonic: at, Wall: at + g.OffsetUs, Accuracy: max(t.Clock.AccuracyUs, 1), Document: record.Clean(t.Clock.From)})
		}
	}
	moment := func(us, accuracy int64) record.Moment {
		m := record.Monotonic(us)
		m.Accuracy = max(accuracy, 1)
		return m
	}
	for _, x := range t.Spans {
		span := record.Span{
			Stage: record.Stage(record.Clean(string(x.Stage))), Name: record.Clean(x.Name), Begin: moment(x.StartUs, x.AccuracyUs), Failed: x.Failed,
			Detail: record.Clean(x.Detail), In: record.Clean(x.In), By: record.Clean(x.By), Starts: record.Clean(x.Starts), For: record.Clean(x.For),
			Document: record.Clean(x.Document),
		}
		for _, name := range x.After {
			span.After = append(span.After, record.Clean(name))
		}
		if !x.Open {
			span.End = moment(x.EndUs, x.AccuracyUs)
		}
		r.Spans = append(r.Spans, span)
	}
	for _, x := range t.Events {
		r.Events = append(r.Events, record.Event{Stage: record.Stage(record.Clean(string(x.Stage))), Name: record.Clean(x.Name),
			At: moment(x.AtUs, x.AccuracyUs), Detail: record.Clean(x.Detail), Document: record.Clean(x.Document)})
	}
	at := func(us *int64) record.Moment {
		if us == nil {
			return record.Moment{}
		}
		return record.Monotonic(*us)
	}
	for _, x := range t.Files {
		r.Files = append(r.Files, record.File{Path: record.Clean(x.Path), By: record.Clean(x.By), At: at(x.AtUs)})
	}
	for _, x := range t.Runs {
		r.Runs = append(r.Runs, record.Run{Path: record.Clean(x.Path), By: record.Clean(x.By), At: at(x.AtUs)})
	}
	r.Sources = append(r.Sources, record.Source{Document: record.Clean(s.name), Kind: "timeline", Records: len(t.Spans) + len(t.Events)})
}
