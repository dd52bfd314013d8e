package launch

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Render decides what a request makes in a cloud. There is always a template, but for a request of nothing. No machine is to
// be started from it where a problem is fatal. The problems are all there are, fatal ones first.
func Render(cloud Cloud, request Request) (*Template, []nodeconfig.Problem) {
	if request.Claim == nil && request.Pool == nil {
		return nil, []nodeconfig.Problem{{Kind: nodeconfig.Missing, Path: "$", Reason: "there is neither a claim nor a pool", Fatal: true}}
	}
	layers, problems := cloud.Layers()
	own, found := request.layer(cloud.Fields())
	layers, problems = append(layers, own), append(problems, found...)
	t := &Template{Document: *Merge(layers), layers: layers, rules: cloud.Rules()}
	problems = append(problems, conflicts(layers, &t.Document)...)
	for _, r := range t.rules {
		problems = append(problems, r.Run(&t.Document)...)
	}
	problems = append(problems, request.check(&t.Document)...)
	t.finish()
	for _, p := range nodeconfig.Repair(t.complete) {
		if !slices.ContainsFunc(problems, func(known nodeconfig.Problem) bool { return known.Fatal && p.Path == known.Path }) && !own.has(p.Path) {
			p.Path = ofNode(p.Path)
			problems = append(problems, p)
		}
	}
	nodeconfig.SortProblems(problems)
	for _, p := range problems {
		t.reported = append(t.reported, p.Path)
	}
	return t, problems
}

// has reports whether the value at a path of a contract is a label or taint of the layer of a claim: what is wrong with it is
// reported under the claim's own path.
func (l *Layer) has(path string) bool {
	above, key := document.CutPath(path)
	_, label := l.Document.Node.Kubelet.Labels[key]
	return label && above == "$.kubelet.labels" || document.Within(path, "$.kubelet.taints")
}

// check compares what the claim requires with the node that was decided.
func (r *Request) check(d *Document) []nodeconfig.Problem {
	c, origin := r.claim()
	prefix := "$"
	if r.Claim == nil {
		prefix = "$.spec.template"
	}
	var problems []nodeconfig.Problem
	wrong := func(path, format string, args ...any) {
		problems = append(problems, nodeconfig.Problem{Kind: nodeconfig.Invalid, Path: path, Reason: fmt.Sprintf(format, args...), Fatal: true, Document: origin})
	}
	for i := range c.Spec.Requirements {
		requirement := &c.Spec.Requirements[i]
		if value, known := d.Node.Kubelet.Labels[requirement.Key]; known && !requirement.fulfilled(value) {
			wrong(document.IndexPath(prefix+".spec.requirements", i), "is not fulfilled: the node would have %q", value)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.Metadata.Labels)) {
		if value, known := d.Node.Kubelet.Labels[key]; known && value != c.Metadata.Labels[key] {
			wrong(document.FieldPath(prefix+".metadata.labels", key), "is not what the node would have, which is %q", value)
		}
	}
	if zones := d.Machine.Type.Zones; d.Machine.Zone != "" && zones != nil && !slices.Contains(zones, d.Machine.Zone) {
		wrong(prefix+".spec.requirements", "want the zone %s, which does not have the instance type %s", d.Machine.Zone, d.Machine.Type.Name)
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
