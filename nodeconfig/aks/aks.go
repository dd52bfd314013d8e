// Package aks reads AKS's node contract, aksnodeconfig.v1, and translates it to a NodeConfig.
//
// Reading is tolerant, because producer and node image are released separately. An unknown field or enumeration value is a warning.
// A value of the wrong type affects only its own field. Both spellings of a name, and numbers as strings, are accepted. A field
// that has no field in NodeConfig is reported. Nothing is dropped silently. The package does no I/O, never changes its input, and
// leaves defaults and validation of the result to nodeconfig. nodeconfig/dialect calls it.
package aks

import (
	"slices"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/aksnodeconfig"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Result is a contract in NodeConfig's terms.
type Result struct {
	// NodeConfig has the contract's values, without defaults. It is never nil.
	NodeConfig *nodeconfig.NodeConfig
	// Problems are those of reading and translating, with paths in the contract's terms.
	Problems []nodeconfig.Problem

	config *aksnodeconfig.Configuration
	// moves are the sources of values in the translation, unless the table has them.
	moves   []move
	origins func() map[string]string
}

// move is a path in NodeConfig and the path in the contract from which its value comes. The paths are built only if they are
// needed, which is when there is a problem.
type move struct{ to, from origin }

// origin is a path, or an entry of the map or list at the path.
type origin struct {
	above string
	// step selects the entry: its name in a map if byName is set, no entry if here is set, or else an index.
	step int
	name string
}

const (
	byName = -1
	here   = -2
)

func at(path string) origin          { return origin{path, here, ""} }
func entry(path, name string) origin { return origin{path, byName, name} }
func item(path string, i int) origin { return origin{path, i, ""} }

func (p origin) String() string {
	switch p.step {
	case here:
		return p.above
	case byName:
		return document.FieldPath(p.above, p.name)
	}
	return document.IndexPath(p.above, p.step)
}

// Origin returns the path in the contract from which a path of the NodeConfig comes. Without one, it returns path itself.
func (r *Result) Origin(path string) string {
	moved, fixed := r.origins(), indexed().origins
	return document.Moved(path, func(path string) (string, bool) {
		from, ok := moved[path]
		if !ok {
			from, ok = fixed[path]
		}
		return from, ok
	})
}

// Origins returns the paths in the contract from which values at or below a path of the NodeConfig come, without those that need no
// report. Without such paths, it returns Origin's path.
func (r *Result) Origins(path string) []string {
	var rows []*row
	if _, moved := r.origins()[path]; !moved {
		for i := range fields {
			below := slices.ContainsFunc(fields[i].to, func(to string) bool { return document.Within(to, path) })
			if below && isSet(r.config, &fields[i]) {
				rows = append(rows, &fields[i])
			}
		}
	}
	if rows == nil {
		from := r.Origin(path)
		if row := indexed().rows[strings.TrimPrefix(from, "$.")]; row != nil && row.quiet(r.config) {
			return nil
		}
		return []string{from}
	}
	var paths []string
	for _, row := range rows {
		// If there are other fields, one that is off needs no report.
		if !row.quiet(r.config) && (len(rows) == 1 || isOn(r.config, row)) {
			paths = append(paths, "$."+row.field)
		}
	}
	return paths
}

// FromTree reads a contract and translates it.
func FromTree(tree *document.Node) *Result {
	var config aksnodeconfig.Configuration
	var problems []nodeconfig.Problem
	document.Decode(tree, &config, document.Options{
		Names: aksnodeconfig.FieldNames,
		Enum:  aksnodeconfig.EnumValue,
		Report: func(f document.Fault) {
			problems = append(problems, nodeconfig.ProblemOf(f, vital(f.Path)))
		},
	})
	r := translate(&config)
	r.Problems = append(problems, r.Problems...)
	return r
}

// deref returns a pointer's value, or the zero value if the document has none.
func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// versions are the contract's versions; the first is current.
var versions = []string{"v1", "v0"}

func (t *translation) version() {
	const at = "$.version"
	switch version := t.in.Version; {
	case version == "":
		t.Fatal(nodeconfig.Missing, at, `is missing; use "v1"`)
	case !slices.Contains(versions, version):
		t.Fatal(nodeconfig.Invalid, at, `is a version that this agent does not know; use "v1"`)
	case version == "v0":
		t.Warn(nodeconfig.Deprecated, at, "v0 is deprecated; it is read as v1")
	}
}

// translation is one run of translate.
type translation struct {
	in  *aksnodeconfig.Configuration
	out *nodeconfig.NodeConfig
	*Result
	problem.Collector
}

// moved records the source of a value, if the table does not have it.
//
//go:noinline
func (t *translation) moved(to, from origin) { t.moves = append(t.moves, move{to, from}) }

func translate(config *aksnodeconfig.Configuration) *Result {
	r := &Result{NodeConfig: new(nodeconfig.NodeConfig), config: config, moves: make([]move, 0, 64)}
	r.origins = sync.OnceValue(func() map[string]string {
		origins := make(map[string]string, len(r.moves))
		for _, m := range r.moves {
			origins[m.to.String()] = m.from.String()
		}
		return origins
	})
	t := &translation{in: config, out: r.NodeConfig, Result: r}
	t.out.APIVersion, t.out.Kind = nodeconfig.APIVersion, nodeconfig.Kind
	t.out.Components.Layout = nodeconfig.LayoutAKS
	t.version()
	t.cluster()
	t.join()
	t.kubelet()
	t.runtime()
	t.network()
	t.system()
	t.access()
	t.cloud()
	t.surroundings()
	t.artifacts()
	t.scriptVariables()
	t.withoutPlace()
	r.Problems = t.List
	return r
}
