package launch

import (
	"slices"
	"sync"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// Base is what all requests have in common that are made in one cloud, with the same settings and the same class: its layers are
// merged once. It may be used for any number of requests, by several goroutines.
type Base struct {
	layers   []Layer
	class    ClassRef
	fields   []Field
	domains  []string
	regional string
	rules    []Rule
	merged   *Document
	// standard is what is the same for all nodes, said what the other sources say. A record needs them, and a launch does not.
	standard, said func() *Document
	// usual are the values of what is the same for all nodes.
	usual    func() map[string]comparedValue
	problems []nodeconfig.Problem
}

// Prepare merges what a cloud's inputs say.
func Prepare(cloud Cloud) *Base {
	b := &Base{class: cloud.ClassRef(), fields: cloud.Fields(), domains: cloud.Domains(), regional: cloud.Regional(), rules: cloud.Rules()}
	b.layers, b.problems = cloud.Layers()
	b.merged = Merge(b.layers)
	b.merged.spell()
	b.standard = sync.OnceValue(func() *Document { return b.of(func(s Source) bool { return s == Hardcoded }) })
	b.said = sync.OnceValue(func() *Document { return b.of(func(s Source) bool { return s != Hardcoded }) })
	b.usual = sync.OnceValue(func() map[string]comparedValue { return compared(b.standard()) })
	b.problems = append(b.problems, conflicts(b.layers, b.merged)...)
	return b
}

// of is what the layers of some sources say.
func (b *Base) of(some func(Source) bool) *Document {
	d := Merge(slices.DeleteFunc(slices.Clone(b.layers), func(l Layer) bool { return !some(l.Source) }))
	d.spell()
	return d
}

// Render decides what a request makes in a cloud. There is always a template, but for a request of nothing. No machine is to
// be started from it where a problem is fatal. The problems are all there are, fatal ones first.
func Render(cloud Cloud, request Request) (*Template, Problems) {
	if cloud == nil {
		return nil, missing("there is no cloud")
	}
	return Prepare(cloud).Render(request)
}

// missing is the problem of an input that is nil.
func missing(reason string) Problems {
	return Problems{{Kind: nodeconfig.Missing, Path: "$", Reason: reason, Fatal: true}}
}

// Render is [Render] of a request.
func (b *Base) Render(request Request) (*Template, Problems) {
	if request.Claim == nil && request.Pool == nil {
		return nil, missing("there is neither a claim nor a pool")
	}
	own, found := request.layer(b)
	// The request's layer goes over all others: what it may set, nobody stronger may ([Cloud.Fields]).
	t := &Template{base: b, own: own}
	t.document, t.said = *over(b.merged, own.Document), sync.OnceValue(func() *Document { return over(b.said(), own.Document) })
	t.problems = t.decide(&request, found)
	return t, t.problems
}

// over is a document with what a stronger one says over it. It shares nothing with them.
func over(weaker, stronger *Document) *Document {
	d := &Document{Node: *nodeconfig.Merge(&weaker.Node, &stronger.Node)}
	d.Machine.lay(&weaker.Machine)
	d.Machine.lay(&stronger.Machine)
	return d
}

// decide runs the rules on what the layers say together, and returns all that is wrong: with the inputs, with the request, and with
// what comes of them.
func (t *Template) decide(request *Request, found []nodeconfig.Problem) Problems {
	t.annotations = request.claim().Metadata.Annotations
	problems := append(slices.Clone(t.base.problems), found...)
	for i := range t.base.rules {
		for _, p := range t.base.rules[i].Run(&t.document) {
			t.reported = append(t.reported, p.Path)
			problems = append(problems, t.base.placed(p))
		}
	}
	problems = append(problems, request.check(t)...)
	t.finish()
	for _, p := range nodeconfig.Repair(t.complete) {
		at := ofNode(p.Path)
		t.reported = append(t.reported, at) // the planner finds it there again
		if place, ok := request.place(t.base, p.Path); ok {
			p.Path, p.Document = place, t.own.Origin
		} else {
			p.Path = at
			p = t.base.placed(p)
		}
		problems = Join(problems, p)
	}
	nodeconfig.SortProblems(problems)
	for _, p := range problems {
		t.reported = append(t.reported, p.Path)
	}
	return problems
}
