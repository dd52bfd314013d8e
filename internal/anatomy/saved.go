package anatomy

import (
	"bytes"
	"encoding/json"

	"github.com/slipway-dev/slipway/internal/anatomy/record"
)

// maxSaved limits the size of a timeline that is read again.
const maxSaved = 64 << 20

// saved is a timeline that was printed before, as by slipway-node anatomy -o json.
type saved struct {
	name     string
	timeline Timeline
	err      error
	size     int
}

// splitSaved separates the timelines from the other documents.
func splitSaved(documents []Document) (rest []Document, timelines []saved) {
	for _, d := range documents {
		head := d.Data[:min(len(d.Data), 1024)]
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
