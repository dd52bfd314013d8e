// Package explain explains a field of a contract, an exit code, and a machine's tag: a field's purpose, the values that
// it accepts, its default, the fields of the NodeConfig that it becomes, and the files, units, kernel parameters and
// checks of the node that depend on it.
//
// It finds the dependents of a field by planning the contract with other values of it, and its readers from
// internal/plan: it has no descriptions of fields. It shows no secret, writes nothing and does no I/O. cmd/slipway
// (explain) calls it, and the test here that writes docs/fields.md.
package explain

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/capacity"
	"github.com/slipway-dev/slipway/examples"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/kubeletapi"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/aks"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// Explanation is the explanation of a field, also in JSON.
type Explanation struct {
	Field string `json:"field"`
	// File names the contract. It is empty without a contract, and then there is no value.
	File        string `json:"file,omitempty"`
	Dialect     string `json:"dialect"`
	Description string `json:"description,omitempty"`
	// Takes describes the accepted values.
	Takes string `json:"takes,omitempty"`
	// From is the contract's field from which this field of the NodeConfig comes.
	From   string `json:"from,omitempty"`
	Set    bool   `json:"set"`
	Secret bool   `json:"secret,omitempty"`
	// Value and Default are null if there is no value or default.
	Value   json.RawMessage `json:"value"`
	Default json.RawMessage `json:"default"`
	// KubeletDefault is what the newest supported kubelet takes for a setting that no document sets; empty if that is nothing, or not known.
	KubeletDefault string `json:"kubeletDefault,omitempty"`
	// Fields are the fields inside a setting of the kubelet.
	Fields    []Listed    `json:"fields,omitempty"`
	Becomes   []Becomes   `json:"becomes"`
	Resources []Dependent `json:"resources"`
	// Applied reports whether this version applies the field: a concern of the planner reads what it becomes, or
	// another part of the node does. Problems explain exceptions of this contract.
	Applied bool `json:"applied"`
	// ReadBy are the names of those concerns.
	ReadBy []string `json:"readBy"`
	// NotApplied are the fields within an applied field of the NodeConfig that are not applied; "*" means any name.
	NotApplied []string `json:"notApplied,omitempty"`
	// Tags are the machine's tags that change the field's effect.
	Tags []facts.Tag `json:"tags,omitempty"`
	// Computed are the kubelet's settings that the planner derives from the field, each with its derivation.
	Computed []capacity.Step `json:"computed,omitempty"`
	// Why describes the effect of a field that changes nothing in the plan, or why it has none.
	Why string `json:"why,omitempty"`
	// Planned is false if the contract has too many errors to be planned, so that its resources are unknown.
	Planned  bool                 `json:"planned"`
	Problems []nodeconfig.Problem `json:"problems"`
}

// Becomes is a field of the NodeConfig with its value.
type Becomes struct {
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value"`
}

// Dependent is a resource that depends on a field.
type Dependent struct {
	ID resource.ID `json:"id"`
	// Phase is when it is applied.
	Phase resource.Phase `json:"phase"`
	// Restarts and Reloads are the units that restart or reload when it changes.
	Restarts []string `json:"restarts,omitempty"`
	Reloads  []string `json:"reloads,omitempty"`
	// ExitCode is the exit code of a provisioning that fails at it. 0 means that it has no specific one.
	ExitCode int `json:"exitCode,omitempty"`
	// Planned is false for a resource that only another value would add.
	Planned bool `json:"planned"`
}

// Field explains a field of a readable contract: by the contract's names, or else by the NodeConfig's. path is written
// as people do, with or without a leading "$.". known are the facts of the machine for the plan. The caller sets the
// file. The error is a [NotFoundError].
func Field(c *compile.Contract, path string, known facts.Facts) (*Explanation, error) {
	own := newExperiment(c.Dialect, c.Profile(), parseTree(c.Canonical()), known)
	at, err := own.find(path)
	if err == nil {
		return own.explain(at), nil
	}
	catalogs := []*catalog{own.catalog}
	if c.Dialect != dialect.Native {
		native := newExperiment(dialect.Native, c.Profile(), own.base.canonical, known)
		if at, nativeErr := native.find(path); nativeErr == nil {
			x := native.explain(at)
			if from := c.Origin(x.Field); from != x.Field {
				if at, err := own.catalog.find(from, own.tree); err == nil && lookUp(own.tree, at.steps) != nil {
					x.From = from
				}
			}
			return x, nil
		}
		catalogs = append(catalogs, native.catalog)
	}
	return nil, unknownField(err, path, catalogs)
}

// FieldOfAny explains a field without a contract: what is true in any contract, in the first of the dialects that has
// it. It finds the dependents with the dialect's example. The error is a [NotFoundError].
func FieldOfAny(dialects []string, path string, known facts.Facts) (*Explanation, error) {
	var unknown error
	var catalogs []*catalog
	for _, name := range dialects {
		e := newExperiment(name, "", parseTree(read(examples.Contract(name), name, "").Canonical()), known)
		at, err := e.find(path)
		if err == nil {
			x := e.explain(at)
			x.Set, x.Value = false, nil
			for i := range x.Becomes {
				x.Becomes[i].Value = nil
			}
			return x, nil
		}
		var kubelets *kubeletError
		if unknown == nil || errors.As(err, &kubelets) {
			unknown = err
		}
		catalogs = append(catalogs, e.catalog)
	}
	return nil, unknownField(unknown, path, catalogs)
}

// read reads a contract of a dialect, for a node family. Empty means the dialect's family.
func read(data []byte, dialect, profile string) *compile.Contract {
	return compile.ReadAs([]compile.Document{{Data: data}}, compile.Reading{Dialect: dialect, Profile: profile})
}

// Listed is a field in a list of fields.
type Listed struct {
	Path        string `json:"path"`
	Description string `json:"description,omitempty"`
}

// Fields returns all fields of a dialect, including nested ones.
func Fields(dialect string) []Listed {
	var all []Listed
	c := loadCatalog(dialect)
	for _, path := range c.paths() {
		if at, err := c.find(path, nil); err == nil {
			all = append(all, Listed{path, at.shape.Description})
		}
	}
	return all
}

// NotFoundError means that there is no field or exit code with this name.
type NotFoundError struct {
	Err error
	// Hint is a suggestion of what was meant, or what to do. It may be empty.
	Hint string
}

// Error implements error.
func (e *NotFoundError) Error() string { return e.Err.Error() }

// Unwrap returns the error that e is about.
func (e *NotFoundError) Unwrap() error { return e.Err }

// notFound is the error of an unknown name. The hint is for a name that is similar to no known one.
func notFound(err error, name string, known []string, hint string) error {
	if near := document.Alike(name, known); len(near) > 0 {
		hint = "did you mean " + cli.List(near, "or") + "?"
	}
	return &NotFoundError{err, hint}
}

// unknownField is the error of a path without a field, with suggestions.
func unknownField(err error, path string, catalogs []*catalog) error {
	var wrong *kubeletError
	if errors.As(err, &wrong) {
		return &NotFoundError{err, "the kubelet's own documentation describes its settings"}
	}
	var known []string
	for _, c := range catalogs {
		known = append(known, c.paths()...)
	}
	path = "$." + strings.TrimPrefix(strings.TrimPrefix(path, "$"), ".")
	return notFound(err, path, slices.Compact(known), "slipway schema prints all fields")
}

// kubeletError means that the kubelet has no such setting.
type kubeletError struct{ unknownError }

// find follows a path to a field. A setting that no kubelet has is an error, unless the document has it: it may be a
// setting of a version that is newer than this program.
func (e *experiment) find(path string) (*position, error) {
	at, err := e.catalog.find(path, e.tree)
	if err != nil {
		return nil, err
	}
	if s := e.kubeletSetting(at); s.Unknown != "" && lookUp(e.tree, at.steps) == nil {
		return nil, &kubeletError{unknownError{pathOf(at.first), s.Unknown}}
	}
	return at, nil
}

// kubeletSetting is the kubelet's description of the setting at a position. It is empty if that is not one of its
// settings.
func (e *experiment) kubeletSetting(at *position) kubeletapi.Setting {
	if names, ok := e.catalog.kubeletField(at); ok {
		return kubeletapi.DescribeField(names)
	}
	if e.dialect == dialect.AKS && len(at.first) > 2 && pathOf(at.first[:2]) == "$.kubelet_config.kubelet_flags" {
		return kubeletapi.DescribeFlag(strings.TrimLeft(at.first[2].name, "-"))
	}
	return kubeletapi.Setting{}
}

// explain explains one field of a document.
func (e *experiment) explain(at *position) *Explanation {
	n := lookUp(e.tree, at.steps)
	x := &Explanation{
		Dialect:     e.dialect,
		Field:       pathOf(at.first),
		Description: at.shape.Description,
		Takes:       cmp.Or(e.kubeletSetting(at).Takes, e.catalog.takesInWords(at.shape)),
		Set:         n != nil && n.Kind != document.Null,
		Secret:      at.shape.WriteOnly || e.dialect == dialect.Native && nodeconfig.IsSecretPlace(pathOf(at.first)),
		Value:       jsonOf(e.catalog.redact(at.shape, lookUp(withoutSecrets(e.tree), at.steps))),
		Becomes:     []Becomes{},
		Resources:   []Dependent{},
		ReadBy:      []string{},
		Planned:     e.base.resources != nil,
		Problems:    []nodeconfig.Problem{},
	}
	if names, ok := e.catalog.kubeletField(at); ok || e.dialect == dialect.Native && x.Field == "$.kubelet.config" {
		x.ofKubelet(names)
	}
	found := e.influence(at.steps, at.shape)
	native := loadCatalog(dialect.Native)
	shown := func(config *document.Node, path string) json.RawMessage {
		place, err := native.find(path, config)
		if err != nil {
			return nil
		}
		return jsonOf(native.redact(place.shape, lookUp(withoutSecrets(config), place.steps)))
	}
	fields := outermost(slices.Sorted(maps.Keys(found.fields)))
	e.whoReads(x, at, fields)
	x.Tags = tagsOf(x.Field, fields)
	if e.base.config != nil {
		x.Computed = plan.Derived(e.base.config, e.facts, append(fields, x.Field))
	}
	for _, path := range fields {
		if e.dialect == dialect.Native && (document.Within(path, x.Field) || document.Within(x.Field, path)) {
			continue
		}
		x.Becomes = append(x.Becomes, Becomes{Path: path, Value: shown(e.base.canonical, path)})
	}
	x.Default = e.byDefault(at, x, shown)
	for _, id := range slices.Sorted(maps.Keys(found.resources)) {
		r := found.resources[id]
		_, planned := e.base.resources[id]
		x.Resources = append(x.Resources, Dependent{ID: id, Phase: r.Phase, Restarts: r.Restarts, Reloads: r.Reloads, ExitCode: r.ExitCode, Planned: planned})
	}
	if r, ok := dialect.ReaderOf(e.dialect, x.Field); ok && len(x.Resources) == 0 {
		x.Why = r.Why
	}
	x.Problems = append(x.Problems, e.about(at, e.base.problems)...)
	if len(x.Problems) == 0 && len(x.Resources) == 0 {
		wrong := func(p nodeconfig.Problem) bool { return !notApplied(p) }
		x.Problems = append(x.Problems, e.about(at, slices.DeleteFunc(found.remarks, wrong))...)
	}
	if e.dialect != dialect.Native && len(x.Resources) == 0 && slices.ContainsFunc(x.Problems, notApplied) {
		// A dialect's nodes belong to one family, and the concern reads the setting for another.
		x.ReadBy, x.Applied = []string{}, false
	}
	return x
}

// byDefault is a field's value if the document does not set it. For a field of another dialect, it is that of the only
// field of the NodeConfig which it becomes.
func (e *experiment) byDefault(at *position, x *Explanation, shown func(*document.Node, string) json.RawMessage) json.RawMessage {
	path := x.Field
	if e.dialect != dialect.Native {
		if len(x.Becomes) != 1 || strings.Contains(x.Becomes[0].Path, "[") {
			return nil
		}
		path = x.Becomes[0].Path
	}
	config := e.base.canonical
	if x.Set && len(at.steps) > 0 {
		config = e.run(with(e.tree, at.steps, nil)).canonical
	}
	value := shown(config, path)
	list, isMap := bytes.HasPrefix(value, []byte("[")), bytes.HasPrefix(value, []byte("{"))
	if s := at.shape; e.dialect != dialect.Native && (list && s.Items == nil || isMap && !s.isMap() && !s.isStruct()) {
		return nil // the field becomes an element of a list or map, and this is the rest of that element
	}
	return value
}

// about returns the problems of a field, of its nested fields, or of the whole field that contains it.
func (e *experiment) about(at *position, problems []nodeconfig.Problem) []nodeconfig.Problem {
	var found []nodeconfig.Problem
	for _, p := range problems {
		fields := []string{pathOf(at.first), pathOf(at.steps)}
		if e.dialect == dialect.AKS {
			if on := aks.TurnedOnBy(fields[1]); on != "" {
				fields = append(fields, on)
			}
		}
		for _, field := range fields {
			about := document.Within(p.Path, field) || notApplied(p) && document.Within(field, p.Path)
			if about && !slices.Contains(found, p) {
				found = append(found, p)
			}
		}
	}
	return found
}

// notApplied reports whether a problem is not a value's, but that the field is set at all.
func notApplied(p nodeconfig.Problem) bool {
	return p.Kind == nodeconfig.NotApplied || p.Kind == nodeconfig.NoEffect
}

// outermost removes the paths below another one; paths are sorted.
func outermost(paths []string) []string {
	var kept []string
	for _, path := range paths {
		if !slices.ContainsFunc(kept, func(above string) bool { return document.Within(path, above) }) {
			kept = append(kept, path)
		}
	}
	return kept
}

func jsonOf(n *document.Node) json.RawMessage {
	if n == nil {
		return nil
	}
	return n.AppendJSON(nil)
}
