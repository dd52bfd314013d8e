package explain

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// experiment finds a field's effects by giving it other values: decoder and planner are pure functions, so the field
// causes every difference. No description of fields exists twice, and a field that the planner learns to apply is
// explained at once.
type experiment struct {
	catalog *catalog
	dialect string
	// profile is the node family. Empty means the document's.
	profile string
	facts   facts.Facts
	tree    *document.Node
	base    outcome
}

// outcome is the result of decoding and planning a document.
type outcome struct {
	config    *nodeconfig.NodeConfig
	written   string         // config, canonically
	canonical *document.Node // the same as a tree
	resources map[resource.ID]resource.Resource
	problems  []nodeconfig.Problem
}

func newExperiment(dialect, profile string, tree *document.Node, f facts.Facts) *experiment {
	e := &experiment{catalog: loadCatalog(dialect), dialect: dialect, profile: profile, facts: f, tree: tree}
	e.base = e.run(tree)
	return e
}

// run decodes and plans a document.
func (e *experiment) run(tree *document.Node) outcome {
	c := read(tree.AppendJSON(nil), e.dialect, e.profile)
	o := outcome{config: c.Config, written: string(nodeconfig.Encode(c.Config)), problems: c.Problems}
	if e.base.config != nil && o.written == e.base.written { // then the plan is the same, too
		o.canonical, o.resources = e.base.canonical, e.base.resources
		return o
	}
	var err error
	if o.canonical, err = document.Parse([]byte(o.written)); err != nil {
		o.canonical = &document.Node{Kind: document.Map} // an empty document
	}
	planned, problems := c.Plan(e.facts)
	o.resources, o.problems = planned.ByID(), problems
	return o
}

// influence are a field's effects.
type influence struct {
	// fields are the fields of the NodeConfig that it becomes, by path.
	fields map[string]bool
	// resources are the dependent resources.
	resources map[resource.ID]resource.Resource
	// remarks are the problems of other values than the document's.
	remarks []nodeconfig.Problem
}

func newInfluence() influence {
	return influence{fields: make(map[string]bool), resources: make(map[resource.ID]resource.Resource)}
}

func (i *influence) add(other influence) {
	for path := range other.fields {
		i.fields[path] = true
	}
	maps.Copy(i.resources, other.resources)
	i.remarks = append(i.remarks, other.remarks...)
}

// widest limits how many fields of a map, or items of a list, are tried.
const widest = 64

// influence finds the effects of the field at the end of steps. The effects of a map or list are those of its elements,
// of the set ones if there are any.
func (e *experiment) influence(steps []step, s *shape) influence {
	s, n := e.catalog.follow(s), lookUp(e.tree, steps)
	total := newInfluence()
	at := func(next step) []step { return append(slices.Clone(steps), next) }
	switch {
	case s.isStruct() && isMap(n) && len(n.Fields) > 0:
		for _, name := range document.FieldNames(n) {
			if below, _, ok := e.catalog.property(s, name); ok {
				total.add(e.influence(at(field(name)), below))
			}
		}
	case s.isStruct() && (n == nil || isMap(n)):
		for _, name := range e.catalog.names(s) {
			below, _, _ := e.catalog.property(s, name)
			total.add(e.influence(at(field(name)), below))
		}
	case (s.isMap() || s.isFree()) && isMap(n) && len(n.Fields) > 0:
		below := s.Additional.shape
		if s.isFree() {
			below = anything
		}
		names := document.FieldNames(n)
		for _, name := range names[:min(widest, len(names))] {
			total.add(e.influence(at(field(name)), below))
		}
	case s.Items != nil && n != nil && len(n.Items) > 0:
		for i := range n.Items[:min(widest, len(n.Items))] {
			total.add(e.influence(at(item(i)), s.Items))
		}
	default:
		total = e.leaf(steps, s, n)
	}
	return total
}

// enough is how many valid values are tried for a field that accepts any.
const enough = 8

// leaf tries other values of one field. Values with which the document stays as valid as before count first; if no
// such value exists, invalid values count; and if other values change nothing, removing the field counts.
func (e *experiment) leaf(steps []step, s *shape, n *document.Node) influence {
	good, poor, taken := newInfluence(), newInfluence(), 0
	try := func(value *document.Node) {
		found := e.compare(e.run(with(e.tree, steps, value)), func(id resource.ID) bool {
			return len(s.Enum) > 0 || !namedAfter(id, value)
		}, value)
		switch {
		case len(found.fields) == 0:
			good.remarks = append(good.remarks, found.remarks...)
		case len(nodeconfig.Fatal(found.remarks)) == 0:
			good.add(found)
			taken++
		default:
			poor.add(found)
		}
	}
	for _, value := range e.catalog.alternatives(s, n, e.base.config.Cluster.CertificateAuthority) {
		if taken == enough && len(s.Enum) == 0 {
			break
		}
		if n == nil || string(value.AppendJSON(nil)) != string(n.AppendJSON(nil)) {
			try(&value)
		}
	}
	if n != nil && len(good.fields) == 0 {
		try(nil)
	}
	if len(good.fields) > 0 {
		return good
	}
	poor.remarks = append(good.remarks, poor.remarks...)
	return poor
}

// compare returns how the outcome of another value differs from that of the document. Resources that only the other
// value adds count if news is true for them. A field whose name was generated with the value does not count; if there
// is no other, its parent does.
func (e *experiment) compare(o outcome, news func(resource.ID) bool, value *document.Node) influence {
	found := newInfluence()
	changes := document.Diff("$", e.base.canonical, o.canonical)
	if e.dialect == dialect.AKS { // it keeps values for AKS's scripts there, which are not this node's
		changes = slices.DeleteFunc(changes, func(d document.Change) bool { return document.Within(d.Path, "$.components.scriptVariables") })
	}
	for _, d := range changes {
		if _, name := document.CutPath(d.Path); d.Old != nil || !isMadeUp(name, value) {
			found.fields[d.Path] = true
		}
	}
	if len(found.fields) == 0 {
		for _, d := range changes {
			above, _ := document.CutPath(d.Path)
			found.fields[above] = true
		}
	}
	for _, p := range o.problems {
		if !slices.Contains(e.base.problems, p) {
			found.remarks = append(found.remarks, p)
		}
	}
	if o.resources == nil {
		return found
	}
	for id, r := range e.base.resources {
		if other, ok := o.resources[id]; !ok || !sameResource(r, other) {
			found.resources[id] = r
		}
	}
	for id, r := range o.resources {
		if _, ok := e.base.resources[id]; !ok && news(id) {
			found.resources[id] = r
		}
	}
	return found
}

// namedAfter reports whether a resource's name comes from a generated value: a module called "explain" is no new
// effect.
func namedAfter(id resource.ID, value *document.Node) bool {
	switch {
	case strings.Contains(string(id), marker):
		return true
	case value == nil:
		return false
	case value.Kind == document.String:
		return value.Text != "" && strings.Contains(string(id), value.Text)
	}
	return slices.ContainsFunc(value.Items, func(n document.Node) bool { return namedAfter(id, &n) }) ||
		slices.ContainsFunc(value.Fields, func(f document.Field) bool { return namedAfter(id, &f.Value) })
}

// isMadeUp reports whether a field's name was generated with a value: it is the value, or a name in it.
func isMadeUp(name string, value *document.Node) bool {
	switch {
	case name == "" || value == nil:
		return false
	case strings.Contains(name, marker), value.Kind == document.String && value.Text == name:
		return true
	}
	return slices.Contains(document.FieldNames(value), name)
}

// sameResource compares what matters on the machine, including secrets.
func sameResource(a, b resource.Resource) bool {
	return a.Phase == b.Phase && a.ExitCode == b.ExitCode && slices.Equal(a.Restarts, b.Restarts) && reflect.DeepEqual(a.Spec, b.Spec)
}
