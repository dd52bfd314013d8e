package anatomy

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/anatomy/record"
)

const (
	// afterGoal is how long after the goal, and after the end of the boot, records still belong to the boot.
	afterGoal = 60_000_000
	// longest limits a time on the axis: a hundred years. A larger one is a mistake of its document.
	longest = 100 * 365 * 86400 * 1_000_000
)

// goals are the events that end a boot, the best one first, with what a reader calls them.
var goals = []struct{ event, called string }{
	{"Node Ready", "Node Ready"},
	{"Node condition Ready", "Node Ready"},
	{"Node registered", "Node registered"},
	{"Node created", "Node registered"},
	{"kubelet exec", kubeletGoal},
	{"provisioning script ends", "provisioning script ended"},
	{"boot finished", "boot finished"},
}

// kubeletGoal is the goal of a boot whose records end with the kubelet's start.
const kubeletGoal = "kubelet started"

// build makes the timeline from records.
func build(r *record.Records) *Timeline {
	t := &Timeline{APIVersion: APIVersion, Kind: Kind, Host: r.Host, Boot: r.Boot, Sources: r.Sources, Unread: r.Unread, Omitted: r.Omitted}
	p := newPlacer(r)
	t.Clock = p.clock()
	others := t.addSpans(r.Spans, p)
	for document, n := range t.addEvents(r.Events, p) {
		others[document] += n
	}
	for i := range t.Sources {
		t.Sources[i].OtherBoots += others[t.Sources[i].Document]
	}
	for _, s := range t.Clock.Steps {
		t.Events = append(t.Events, Event{Stage: record.Systemd, Name: "clock set", AtUs: s.AtUs, Detail: "by " + signed(s.ByUs), AccuracyUs: p.accuracy})
	}
	t.findGoal()
	t.derive()
	t.adopt()
	t.cut()
	t.sort()
	t.findPath()
	t.findIdle()
	t.findWaits()
	t.addFiles(r, p)
	t.tell(r, p)
	t.fill()
	return t
}

// addSpans places the spans, and returns the number of those of other boots, by document.
func (t *Timeline) addSpans(spans []record.Span, p *placer) map[string]int {
	others := make(map[string]int)
	last := make(map[string]int64)
	for _, s := range spans {
		begin, ok := p.place(s.Begin, last[s.Document])
		if !ok || begin > longest || begin < -longest {
			others[s.Document]++
			continue
		}
		last[s.Document] = begin
		span := Span{
			Stage: s.Stage, Name: s.Name, StartUs: begin, EndUs: begin, Failed: s.Failed, Detail: s.Detail, After: s.After, In: s.In, By: s.By,
			Starts: s.Starts, For: s.For, AccuracyUs: max(s.Begin.Accuracy, s.End.Accuracy), Document: s.Document,
		}
		end, ended := p.place(s.End, begin)
		switch {
		case !ended || end > longest:
			span.Open = true
		case end > begin:
			span.EndUs = end
			if s.Stage == record.CloudInit && !strings.Contains(s.Name, "/") {
				last[s.Document] = end // its stages run one after the other
			}
		}
		t.Spans = append(t.Spans, span)
	}
	t.Spans = distinct(t.Spans)
	return others
}

// distinct removes spans that another document describes more accurately, such as cloud-init's stages in its status and its log.
func distinct(spans []Span) []Span {
	type key struct {
		stage record.Stage
		name  string
	}
	first := make(map[key]string)
	for _, s := range spans {
		k := key{s.Stage, s.Name}
		if best, seen := first[k]; !seen || s.Document < best {
			first[k] = s.Document
		}
	}
	return slices.DeleteFunc(spans, func(s Span) bool {
		return s.Stage == record.CloudInit && first[key{s.Stage, s.Name}] != s.Document
	})
}

// addEvents places the events, and returns the number of those of other boots, by document.
func (t *Timeline) addEvents(events []record.Event, p *placer) map[string]int {
	others := make(map[string]int)
	last := make(map[string]int64)
	for _, e := range events {
		at, ok := p.place(e.At, last[e.Document])
		if !ok || at > longest || at < -longest {
			others[e.Document]++
			continue
		}
		last[e.Document] = at
		t.Events = append(t.Events, Event{Stage: e.Stage, Name: e.Name, AtUs: at, Detail: e.Detail, AccuracyUs: e.At.Accuracy, Document: e.Document})
	}
	return others
}

// At returns the first time of an event by its name, and whether it happened.
func (t *Timeline) At(name string) (us int64, ok bool) {
	us = math.MaxInt64
	for _, e := range t.Events {
		if e.Name == name && e.AtUs < us {
			us, ok = e.AtUs, true
		}
	}
	return us, ok
}

// findGoal finds the event that ends the boot. Without any, the boot ends with its last span.
func (t *Timeline) findGoal() {
	for _, g := range goals {
		if at, ok := t.At(g.event); ok {
			t.Goal, t.GoalUs = g.called, at
			return
		}
	}
	t.Goal = "last record"
	for _, s := range t.Spans {
		t.GoalUs = max(t.GoalUs, s.StartUs, s.EndUs)
	}
	for _, e := range t.Events {
		t.GoalUs = max(t.GoalUs, e.AtUs)
	}
}

// kubeletUnit is the kubelet's unit.
const kubeletUnit = "kubelet.service"

// derived are spans that no document has, by the events at their ends.
var derived = []struct {
	span       Span
	begin, end []string
}{
	{Span{Stage: record.GuestAgent, Name: "guest agent", By: "walinuxagent.service"}, []string{"guest agent exec", "guest agent runs"},
		[]string{"extension enabled", "extension settings written", "extension initialized"}},
	{Span{Stage: record.Kubelet, Name: "certificate of the kubelet", In: "kubelet", For: "certificate approved"}, []string{"kubelet wants a certificate"}, []string{"certificate issued"}},
	{Span{Stage: record.Kubelet, Name: "registration of the Node", In: "kubelet"}, []string{"kubelet registers"}, []string{"Node registered"}},
}

// derive adds the kubelet's span, from its process's start to the goal, and those that follow from events.
func (t *Timeline) derive() {
	has := func(name string) bool {
		return slices.ContainsFunc(t.Spans, func(s Span) bool { return s.Name == name })
	}
	// A timeline that is read again has them.
	if began := t.kubeletStart(); began >= 0 && began < t.GoalUs && strings.HasPrefix(t.Goal, "Node") && !has("kubelet") {
		t.Spans = append(t.Spans, Span{Stage: record.Kubelet, Name: "kubelet", StartUs: began, EndUs: t.GoalUs, By: kubeletUnit})
	}
	for _, d := range derived {
		begin, end := t.firstOf(d.begin), t.firstOf(d.end)
		if begin == nil || end == nil || end.AtUs < begin.AtUs || end.AtUs > t.GoalUs || has(d.span.Name) {
			continue
		}
		span := d.span
		span.StartUs, span.EndUs, span.AccuracyUs = begin.AtUs, end.AtUs, max(begin.AccuracyUs, end.AccuracyUs)
		t.Spans = append(t.Spans, span)
	}
}

// adopt makes the steps of a provisioning script parts of what ran it: of the innermost span of cloud-init or the guest agent that was at
// work meanwhile. Their records name the custom script extension, which a machine does not have if its user data has the script.
func (t *Timeline) adopt() {
	if slices.ContainsFunc(t.Spans, func(s Span) bool { return s.Name == customScript }) {
		return
	}
	var all []*Span
	for i := range t.Spans {
		if s := &t.Spans[i]; s.In == customScript || (s.Stage == record.CloudInit || s.Stage == record.GuestAgent) && !s.Open {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b *Span) int { return cmp.Or(cmp.Compare(a.StartUs, b.StartUs), cmp.Compare(b.EndUs, a.EndUs)) })
	var around []*Span // the innermost last
	for _, s := range all {
		if s.In != customScript {
			around = append(around, s)
			continue
		}
		for len(around) > 0 && around[len(around)-1].EndUs < s.EndUs {
			around = around[:len(around)-1]
		}
		if len(around) > 0 {
			s.In = around[len(around)-1].Name
		}
	}
}

// firstOf is the first event with the first of several names that has happened, or nil.
func (t *Timeline) firstOf(names []string) *Event {
	for _, name := range names {
		var first *Event
		for i := range t.Events {
			if e := &t.Events[i]; e.Name == name && (first == nil || e.AtUs < first.AtUs) {
				first = e
			}
		}
		if first != nil {
			return first
		}
	}
	return nil
}

// kubeletStart is when the kubelet's process started for the last time before the goal, or -1.
func (t *Timeline) kubeletStart() int64 {
	began := int64(-1)
	for _, s := range t.Spans {
		if s.Name == kubeletUnit && s.StartUs <= t.GoalUs {
			began = max(began, s.StartUs)
		}
	}
	for _, e := range t.Events {
		if e.Name == "kubelet exec" && e.AtUs <= t.GoalUs {
			began = max(began, e.AtUs)
		}
	}
	return began
}

// cut removes what began long after the boot: restarts of units, later runs of an extension.
func (t *Timeline) cut() {
	end := t.GoalUs
	for _, name := range []string{"boot finished", "certificate issued"} {
		if at, ok := t.At(name); ok && at < end+afterGoal {
			end = max(end, at)
		}
	}
	t.Spans = slices.DeleteFunc(t.Spans, func(s Span) bool { return s.StartUs > end+afterGoal })
	t.Events = slices.DeleteFunc(t.Events, func(e Event) bool { return e.AtUs > end+afterGoal })
	for i := range t.Spans {
		if s := &t.Spans[i]; s.EndUs > end+afterGoal || s.Open {
			s.Open = true
			s.EndUs = max(s.StartUs, end)
		}
	}
}

// sort orders spans and events by their time, and numbers the spans.
func (t *Timeline) sort() {
	slices.SortStableFunc(t.Spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.StartUs, b.StartUs), cmp.Compare(b.EndUs, a.EndUs), cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Name, b.Name))
	})
	for i := range t.Spans {
		t.Spans[i].ID = i
	}
	slices.SortStableFunc(t.Events, func(a, b Event) int { return cmp.Or(cmp.Compare(a.AtUs, b.AtUs), cmp.Compare(a.Name, b.Name)) })
}

// fill makes each list one that JSON writes as a list.
func (t *Timeline) fill() {
	notNil(&t.Spans)
	notNil(&t.Events)
	notNil(&t.Path)
	notNil(&t.Waits)
	notNil(&t.Idle)
	notNil(&t.Files)
	notNil(&t.Runs)
	notNil(&t.Story)
	notNil(&t.Sources)
	notNil(&t.Unread)
}

func notNil[T any](list *[]T) {
	if *list == nil {
		*list = []T{}
	}
}
