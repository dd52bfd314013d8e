package launch

import (
	"slices"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// Base is what all requests have in common that are made in one cloud, with the same settings and the same class: its layers are
// merged once. It may be used for any number of requests, by several goroutines.
type Base struct {
	layers  []Layer
	class   ClassRef
	fields  []Field
	domains []string
	// labelField is the row of all labels.
	labelField *Field
	rules      []Rule
	merged     *Document
	problems   []nodeconfig.Problem
}

// Prepare merges what a cloud's inputs say.
func Prepare(cloud Cloud) *Base {
	b := read(cloud)
	b.merged = Merge(b.layers)
	b.problems = append(b.problems, conflicts(b.layers, b.fields, b.merged)...)
	return b
}

// read takes what a cloud's inputs say, and merges nothing.
func read(cloud Cloud) *Base {
	b := &Base{class: cloud.ClassRef(), fields: cloud.Fields(), domains: cloud.Domains(), rules: cloud.Rules()}
	b.labelField = fieldOf(b.fields, nodeLabels)
	b.layers, b.problems = cloud.Layers()
	return b
}

// nothing is what is wrong with a request of nothing.
func (r *Request) nothing() []nodeconfig.Problem {
	if r.Claim == nil && r.Pool == nil {
		return []nodeconfig.Problem{{Kind: nodeconfig.Missing, Path: "$", Reason: "there is neither a claim nor a pool", Fatal: true}}
	}
	return nil
}

// Render decides what a request makes in a cloud. There is always a template, but for a request of nothing. No machine is to
// be started from it where a problem is fatal. The problems are all there are, fatal ones first.
func Render(cloud Cloud, request Request) (*Template, []nodeconfig.Problem) {
	if problems := request.nothing(); problems != nil {
		return nil, problems
	}
	b := read(cloud)
	own, found := request.layer(b)
	t := &Template{base: b, own: own}
	t.Document.merge(append(b.layers, own)) // all at once: nobody else needs what the others say together
	b.problems = append(b.problems, conflicts(b.layers, b.fields, &t.Document)...)
	return t, t.decide(&request, found)
}

// Render is [Render] of a request.
func (b *Base) Render(request Request) (*Template, []nodeconfig.Problem) {
	if problems := request.nothing(); problems != nil {
		return nil, problems
	}
	own, found := request.layer(b)
	// The request's layer goes over all others: what it may set, nobody stronger may ([Cloud.Fields]).
	t := &Template{base: b, own: own}
	t.Document.Node = *nodeconfig.Merge(&b.merged.Node, &own.Document.Node)
	t.Document.Machine.lay(&b.merged.Machine)
	t.Document.Machine.lay(&own.Document.Machine)
	return t, t.decide(&request, found)
}

// decide runs the rules on what the layers say together, and returns all that is wrong: with the inputs, with the request, and with
// what comes of them.
func (t *Template) decide(request *Request, found []nodeconfig.Problem) []nodeconfig.Problem {
	t.annotations = request.annotations()
	problems := append(slices.Clone(t.base.problems), found...)
	for i := range t.base.rules {
		for _, p := range t.base.rules[i].Run(&t.Document) {
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
