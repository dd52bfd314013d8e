package resource

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// PlanAPIVersion identifies the JSON form of a plan.
const (
	PlanAPIVersion = "slipway.dev/v1"
	PlanKind       = "Plan"
)

type planJSON struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Config     string     `json:"config"`
	Dialect    string     `json:"dialect"`
	Resources  []Resource `json:"resources"`
	Health     []Resource `json:"health,omitempty"`
	Node       Node       `json:"node,omitzero"`
}

// MarshalJSON writes the plan for people and tools; secret content is left out.
func (p Plan) MarshalJSON() ([]byte, error) {
	return marshalPlain(planJSON{PlanAPIVersion, PlanKind, p.Config, p.Dialect, p.Resources, p.Health, p.Node})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var j planJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	if j.Kind != PlanKind || j.APIVersion != PlanAPIVersion {
		return fmt.Errorf("is %q %q, want %q %q", j.APIVersion, j.Kind, PlanAPIVersion, PlanKind)
	}
	*p = Plan{j.Config, j.Dialect, j.Resources, j.Health, j.Node}
	return nil
}

type resourceJSON struct {
	ID       ID              `json:"id"`
	Kind     string          `json:"kind"`
	Phase    Phase           `json:"phase"`
	Requires []ID            `json:"requires,omitempty"`
	After    []ID            `json:"after,omitempty"`
	Restarts []string        `json:"restarts,omitempty"`
	Reloads  []string        `json:"reloads,omitempty"`
	Takes    *takesJSON      `json:"takes,omitempty"`
	ExitCode int             `json:"exitCode,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Spec     json.RawMessage `json:"spec"`
}

// takesJSON is the class of a change, if the plan has one.
type takesJSON struct {
	Class  Class  `json:"class"`
	Why    string `json:"why"`
	Source string `json:"source"`
}

// MarshalJSON writes the resource with its kind.
func (r Resource) MarshalJSON() ([]byte, error) {
	spec, err := marshalPlain(r.Spec)
	if err != nil {
		return nil, err
	}
	var takes *takesJSON
	if r.Why != "" {
		takes = &takesJSON{r.Class, r.Why, r.Source}
	}
	return marshalPlain(resourceJSON{
		r.ID(), r.Spec.Kind(), r.Phase, r.Requires, r.After, r.Restarts, r.Reloads, takes, r.ExitCode, r.Reason, spec,
	})
}

// marshalPlain marshals without HTML escapes, because people read plans.
func marshalPlain(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Resource) UnmarshalJSON(data []byte) error {
	var j resourceJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	kind, ok := Kinds[j.Kind]
	if !ok {
		return fmt.Errorf("resource %q has unknown kind %q", j.ID, j.Kind)
	}
	spec := kind.New()
	if err := json.Unmarshal(j.Spec, spec); err != nil {
		return fmt.Errorf("resource %q: %w", j.ID, err)
	}
	effects := Effects{Restarts: j.Restarts, Reloads: j.Reloads}
	if j.Takes != nil {
		effects.Class, effects.Why, effects.Source = j.Takes.Class, j.Takes.Why, j.Takes.Source
	}
	*r = Resource{Phase: j.Phase, Requires: j.Requires, After: j.After, Effects: effects, ExitCode: j.ExitCode, Reason: j.Reason, Spec: spec}
	return nil
}
