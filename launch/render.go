package launch

import (
	"slices"

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
	problems []nodeconfig.Problem
}

// Prepare merges what a cloud's inputs say.
func Prepare(cloud Cloud) *Base {
	b := &Base{class: cloud.ClassRef(), fields: cloud.Fields(), domains: cloud.Domains(), regional: cloud.Regional(), rules: cloud.Rules()}
	b.layers, b.problems = cloud.Layers()
	b.merged = Merge(b.layers)
	b.problems = append(b.problems, conflicts(b.layers, b.fields, b.merged)...)
	return b
}

// Render decides what a request makes in a cloud. There is always a template, but for a request of nothing. No machine is to
// be started from it where a problem is fatal. The problems are all there are, fatal ones first.
func Render(cloud Cloud, request Request) (*Template, []nodeconfig.Problem) {
	return Prepare(cloud).Render(request)
}

// Render is [Render] of a request.
func (b *Base) Render(request Request) (*Template, []nodeconfig.Problem) {
	if request.Claim == nil && request.Pool == nil {
		return nil, []nodeconfig.Problem{{Kind: nodeconfig.Missing, Path: "$", Reason: "there is neither a claim nor a pool", Fatal: true}}
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
	t.annotations = request.claim().Metadata.Annotations
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
