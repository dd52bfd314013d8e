package launch

import (
	"reflect"
	"slices"
	"sync"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// base has what all requests share that use one cloud, the same settings and the same class. Its layers are merged once. It never
// changes.
type base struct {
	layers   []Layer
	class    ClassRef
	fields   map[string][]Source
	domains  []string
	regional string
	rules    []Rule
	merged   *Document
	// standard returns the values that are the same for all nodes, given returns those of the other sources. Only a record needs them.
	standard, given func() *Document
	// usual are the values of what is the same for all nodes.
	usual    func() map[string]comparedValue
	problems []nodeconfig.Problem
}

// Render decides what a request makes in a cloud. There is always a launch. If one of its problems is fatal, the launch is refused: no
// machine is to be started from it.
func Render(cloud Cloud, request Request) *Launch { return Prepare(cloud)(request) }

// Prepare merges what a cloud's inputs say, and returns [Render] for that cloud. Several goroutines may call it, for any number of requests.
func Prepare(cloud Cloud) func(Request) *Launch {
	// An interface may also hold a pointer that is nil.
	if v := reflect.ValueOf(cloud); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return func(Request) *Launch { return refused("there is no cloud") }
	}
	b := &base{class: cloud.ClassRef(), fields: cloud.Fields(), domains: cloud.Domains(), regional: cloud.Regional(), rules: cloud.Rules()}
	b.layers, b.problems = cloud.Layers()
	b.merged = merge(b.layers)
	b.merged.spell()
	b.standard = sync.OnceValue(func() *Document { return b.of(func(s Source) bool { return s == Hardcoded }) })
	b.given = sync.OnceValue(func() *Document { return b.of(func(s Source) bool { return s != Hardcoded }) })
	b.usual = sync.OnceValue(func() map[string]comparedValue { return compared(b.standard()) })
	b.problems = append(b.problems, conflicts(b.layers)...)
	return b.render
}

// of is what the layers of some sources say.
func (b *base) of(some func(Source) bool) *Document {
	d := merge(slices.DeleteFunc(slices.Clone(b.layers), func(l Layer) bool { return !some(l.Source) }))
	d.spell()
	return d
}

// refused is the launch of an input that is nil.
func refused(reason string) *Launch {
	l := launchOf(new(Document))
	l.problems = Problems{{Kind: nodeconfig.Missing, Path: "$", Reason: reason, Fatal: true}}
	return l
}

// launchOf is the launch of a document that no layers and no rules have made.
func launchOf(d *Document) *Launch {
	l := &Launch{document: *d, base: new(base), given: func() *Document { return d }}
	l.finish()
	return l
}

// render is [Render] of a request.
func (b *base) render(request Request) *Launch {
	if request.Claim == nil && request.Pool == nil {
		return refused("there is neither a claim nor a pool")
	}
	own, found := request.layer(b)
	// The request's layer goes over all others: no stronger source may set the same fields ([Cloud.Fields]).
	l := &Launch{base: b, own: own, document: *overlay(b.merged, own.Document), annotations: request.claim().Metadata.Annotations}
	l.given = sync.OnceValue(func() *Document { return overlay(b.given(), own.Document) })
	l.decide(&request, found)
	return l
}

// decide runs the rules on what the layers say together, and keeps all that is wrong: with the inputs, with the request, and with
// what comes of them.
func (l *Launch) decide(request *Request, found []nodeconfig.Problem) {
	problems := Problems(append(slices.Clone(l.base.problems), found...))
	for _, p := range l.base.run(&l.document) {
		l.reported = append(l.reported, p.Path)
		problems = append(problems, l.base.placed(p))
	}
	problems = append(problems, request.check(l)...)
	l.finish()
	for _, p := range nodeconfig.Repair(l.complete) {
		at := ofNode(p.Path)
		l.reported = append(l.reported, at) // the planner finds it there again
		if place, ok := request.place(l.base, p.Path); ok {
			p.Path, p.Document = place, l.own.Origin
		} else {
			p.Path = at
			p = l.base.placed(p)
		}
		problems = problems.Join(p)
	}
	nodeconfig.SortProblems(problems)
	for _, p := range problems {
		l.reported = append(l.reported, p.Path)
	}
	l.problems = problems
}

// run runs the rules on a document, and returns what they find wrong.
func (b *base) run(d *Document) (problems []nodeconfig.Problem) {
	for i := range b.rules {
		problems = append(problems, b.rules[i].Run(d)...)
	}
	return problems
}
