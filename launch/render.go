package launch

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Base is what all requests have in common that are made in one cloud, with the same settings and the same class: its layers are
// merged once. It may be used for any number of requests, by several goroutines.
type Base struct {
	layers   []Layer
	class    ClassRef
	fields   []Field
	rules    []Rule
	merged   *Document
	problems []nodeconfig.Problem
}

// Prepare merges what a cloud's inputs say.
func Prepare(cloud Cloud) *Base {
	b := read(cloud)
	b.merged = Merge(b.layers)
	b.problems = append(b.problems, conflicts(b.layers, b.merged)...)
	return b
}

// read takes what a cloud's inputs say, and merges nothing.
func read(cloud Cloud) *Base {
	b := &Base{class: cloud.ClassRef(), fields: cloud.Fields(), rules: cloud.Rules()}
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
	own, found := request.layer(b.fields, &b.class)
	t := &Template{base: b, own: own}
	t.Document.merge(append(b.layers, own)) // all at once: nobody else needs what the others say together
	b.problems = append(b.problems, conflicts(b.layers, &t.Document)...)
	return t, t.decide(&request, found)
}

// Render is [Render] of a request.
func (b *Base) Render(request Request) (*Template, []nodeconfig.Problem) {
	if problems := request.nothing(); problems != nil {
		return nil, problems
	}
	own, found := request.layer(b.fields, &b.class)
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
		problems = append(problems, t.base.rules[i].Run(&t.Document)...)
	}
	problems = append(problems, request.check(&t.own, &t.Document)...)
	t.finish()
	for _, p := range nodeconfig.Repair(t.complete) {
		at := ofNode(p.Path)
		t.reported = append(t.reported, at) // the planner finds it there again
		if place, ok := request.place(t.base.fields, p.Path); ok {
			p.Path, p.Document = place, t.own.Origin
		} else {
			p.Path = at
		}
		if !slices.ContainsFunc(problems, func(known nodeconfig.Problem) bool {
			return known.Fatal && p.Path == known.Path && p.Document == known.Document
		}) {
			problems = append(problems, p)
		}
	}
	nodeconfig.SortProblems(problems)
	for _, p := range problems {
		t.reported = append(t.reported, p.Path)
	}
	return problems
}

// check compares what the claim requires with the node that was decided. What is found is sorted later. A value of the claim's own is not
// repeated: it may be one that Kubernetes refuses.
func (r *Request) check(own *Layer, d *Document) []nodeconfig.Problem {
	c, prefix := r.claim(), r.prefix()
	var problems []nodeconfig.Problem
	wrong := func(path, reason string) {
		problems = append(problems, nodeconfig.Problem{Kind: nodeconfig.Invalid, Path: path, Reason: reason, Fatal: true, Document: own.Origin})
	}
	differs := func(path, key, value, reason string) {
		if own.Document.Node.Kubelet.Labels[key] == value {
			wrong(path, "contradicts what else the claim says")
		} else {
			wrong(path, fmt.Sprintf(reason, value))
		}
	}
	for i := range c.Spec.Requirements {
		requirement := &c.Spec.Requirements[i]
		if value, known := d.Node.Kubelet.Labels[requirement.Key]; known && !requirement.fulfilled(value) {
			differs(document.IndexPath(prefix+".spec.requirements", i), requirement.Key, value, "is not fulfilled: the node would have %q")
		}
	}
	for key, wanted := range c.Metadata.Labels {
		if value, known := d.Node.Kubelet.Labels[key]; known && value != wanted {
			differs(document.FieldPath(prefix+".metadata.labels", key), key, value, "is not what the node would have, which is %q")
		}
	}
	if zones := d.Machine.Type.Zones; d.Machine.Zone != "" && zones != nil && !slices.Contains(zones, d.Machine.Zone) {
		wrong(prefix+".spec.requirements", fmt.Sprintf("want a zone that does not have the instance type %s, which is in %s", d.Machine.Type.Name, cmp.Or(strings.Join(zones, ", "), "none")))
	}
	return problems
}

// fulfilled reports whether a node with a value fulfils the requirement.
func (r *Requirement) fulfilled(value string) bool {
	switch r.Operator {
	case "In":
		return slices.Contains(r.Values, value)
	case "NotIn":
		return !slices.Contains(r.Values, value)
	case "DoesNotExist":
		return false
	case "Gt", "Lt", "Gte", "Lte":
		if len(r.Values) != 1 {
			return false
		}
		have, err := strconv.ParseInt(value, 10, 64)
		limit, err2 := strconv.ParseInt(r.Values[0], 10, 64)
		if err != nil || err2 != nil {
			return false
		}
		return map[string]bool{"Gt": have > limit, "Lt": have < limit, "Gte": have >= limit, "Lte": have <= limit}[r.Operator]
	}
	return true
}
