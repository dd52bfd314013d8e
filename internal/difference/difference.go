package difference

import (
	"encoding/json"
	"slices"

	"github.com/slipway-dev/slipway/internal/resource"
)

// Difference is how two plans differ. It is the JSON form too, and holds nothing of a secret.
type Difference struct {
	Same    bool     `json:"same"`
	Added   []Whole  `json:"added"`
	Removed []Whole  `json:"removed"`
	Changed []Change `json:"changed"`
	// Version is the change of Kubernetes' version; nil if it stays.
	Version *VersionChange `json:"kubernetesVersion,omitempty"`
	// Restarts are the units that restart when a machine goes from one plan to the other.
	Restarts []string `json:"restarts"`
	// Units are what happens to units, those that restart among them.
	Units []Unit `json:"units"`
	// Class is the greatest of all changes.
	Class Class `json:"class"`
}

// Whole is a resource that only one of the plans has.
type Whole struct {
	resource.Resource
	Judgement
}

// Change is a resource that both plans have, and not alike.
type Change struct {
	ID resource.ID `json:"id"`
	// Fields are the differences apart from a file's content.
	Fields []Field `json:"fields,omitempty"`
	// Content is the unified diff of a file's content. It is empty if the content is secret or is not
	// text.
	Content string `json:"content,omitempty"`
	// ContentDiffers means that the content differs, also if it is secret.
	ContentDiffers bool `json:"contentDiffers,omitempty"`
	Secret         bool `json:"secret,omitempty"`
	Judgement
	spec resource.Spec
	// restarts are the units that restart because of it, reloads those that read it again.
	restarts, reloads []string
}

// VersionChange is a change of the contracts' Kubernetes version. An empty version stands for the installed one.
type VersionChange struct {
	Old string `json:"old"`
	New string `json:"new"`
	Judgement
}

// Field is a field of a resource by its JSON path, with its values as JSON.
type Field struct {
	Path string          `json:"path"`
	Old  json.RawMessage `json:"old,omitempty"`
	New  json.RawMessage `json:"new,omitempty"`
}

// Judgement is what a change takes, and why.
type Judgement struct {
	Class Class `json:"class"`
	// Reasons are the rules that apply to the change, the greatest class first. A change of a class above none has at least
	// one.
	Reasons []Reason `json:"reasons,omitempty"`
}

// Reason is a rule that a change falls under.
type Reason struct {
	Class Class `json:"class"`
	// What is what changes: a setting, a flag, a unit.
	What string `json:"what"`
	// Why is the reason in one sentence.
	Why string `json:"why"`
	// Source is where the rule was read.
	Source string `json:"source"`
}

// Of compares two plans: the one that a machine has or had, and the one that it will have.
func Of(before, after resource.Plan) (*Difference, error) {
	d := &Difference{Added: []Whole{}, Removed: []Whole{}, Changed: []Change{}, Restarts: []string{}, Units: []Unit{}}
	j, had, wanted := newJudge(before, after), before.ByID(), after.ByID()
	registered := OnlyRegistration(&before, &after)
	for _, r := range before.Resources {
		other, ok := wanted[r.ID()]
		if !ok {
			restarts, reloads := j.effectsOf(r, r)
			j.compare(delta{id: r.ID(), old: &r, restarts: restarts, reloads: reloads})
			d.Removed = append(d.Removed, Whole{Resource: r})
			continue
		}
		c, err := compareResources(r, other)
		if err != nil {
			return nil, err
		}
		if len(c.Fields) > 0 || c.ContentDiffers {
			if _, unread := slices.BinarySearch(registered, r.ID()); c.onMachine() && !unread {
				c.restarts, c.reloads = j.effectsOf(r, other)
			}
			j.compare(delta{r.ID(), &r, &other, c.Fields, c.restarts, c.reloads})
			d.Changed = append(d.Changed, c)
		}
	}
	for _, r := range after.Resources {
		if _, ok := had[r.ID()]; !ok {
			restarts, reloads := j.effectsOf(r, r)
			j.compare(delta{id: r.ID(), new: &r, restarts: restarts, reloads: reloads})
			d.Added = append(d.Added, Whole{Resource: r})
		}
	}
	d.Version = j.version()
	d.Same = len(j.deltas) == 0 && d.Version == nil
	d.Units = j.units()
	for _, delta := range j.deltas {
		d.Restarts = append(d.Restarts, delta.restarts...)
	}
	slices.Sort(d.Restarts)
	d.Restarts = slices.Compact(d.Restarts)
	d.take(j.judgements())
	return d, nil
}

// take gives each entry its judgement.
func (d *Difference) take(judged map[resource.ID]Judgement) {
	for i := range d.Added {
		d.Added[i].Judgement = judged[d.Added[i].ID()]
	}
	for i := range d.Removed {
		d.Removed[i].Judgement = judged[d.Removed[i].ID()]
	}
	for i := range d.Changed {
		d.Changed[i].Judgement = judged[d.Changed[i].ID]
	}
	for _, judgement := range judged {
		d.Class = max(d.Class, judgement.Class)
	}
	if d.Version != nil {
		d.Class = max(d.Class, d.Version.Class)
	}
}

// Beyond returns the reasons for classes above the allowed one, each once, the greatest class first. The result is empty
// only if Class is not greater than allowed.
func (d *Difference) Beyond(allowed Class) []Reason {
	var beyond []Reason
	collect := func(j Judgement) {
		for _, r := range j.Reasons {
			if r.Class > allowed {
				beyond = append(beyond, r)
			}
		}
	}
	for _, w := range slices.Concat(d.Added, d.Removed) {
		collect(w.Judgement)
	}
	for _, c := range d.Changed {
		collect(c.Judgement)
	}
	if d.Version != nil {
		collect(d.Version.Judgement)
	}
	return inOrder(beyond)
}

// MarshalJSON writes the resource as a plan has it, with its judgement.
func (w Whole) MarshalJSON() ([]byte, error) {
	plain, err := json.Marshal(w.Resource)
	if err != nil {
		return nil, err
	}
	judgement, err := json.Marshal(w.Judgement)
	if err != nil {
		return nil, err
	}
	return slices.Concat(plain[:len(plain)-1], []byte(","), judgement[1:]), nil // two maps made one
}
