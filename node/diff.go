package node

import (
	"fmt"

	"github.com/slipway-dev/slipway/internal/difference"
)

// Class is what a change takes on a node that runs. A greater one includes what a smaller one takes.
type Class int

// The classes.
const (
	// None takes nothing but the change itself.
	None = Class(difference.None)
	// Reload has units read again what has changed while they run, or systemd its units.
	Reload = Class(difference.Reload)
	// Restart has units started again; pods keep running.
	Restart = Class(difference.Restart)
	// Drain takes a node without pods.
	Drain = Class(difference.Drain)
	// Reboot takes a drained node, and the machine started again.
	Reboot = Class(difference.Reboot)
	// Replace takes another machine.
	Replace = Class(difference.Replace)
)

// String is the class's name: "none", "reload", "restart", "drain", "reboot", "replace".
func (c Class) String() string { return difference.Class(c).String() }

// MarshalText writes the class's name.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Difference is how two nodes differ.
type Difference struct {
	// Class is the greatest of all changes; None where there are none.
	Class Class `json:"class"`
	// Changes are what differs: what only the first has, what only the second has, what both have and not alike.
	Changes []Change `json:"changes"`
	// Restarts are the units that restart when a machine goes from the first to the second, by name.
	Restarts []string `json:"restarts"`
}

// Change is one part of a plan that differs.
type Change struct {
	// Kind and Name are the part's: "File" and its path, "Unit" and its name; "Version" and "kubernetes" for the version that contracts name.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// How is "added", "removed" or "changed".
	How   string `json:"how"`
	Class Class  `json:"class"`
	// Reasons are the rules that the change falls under, the one with the greatest class first. A change of a class above
	// None has one at least.
	Reasons []Reason `json:"reasons,omitempty"`
}

// Reason is a rule that a change falls under.
type Reason struct {
	Class Class `json:"class"`
	// What is what changes: a setting, a flag, a unit.
	What string `json:"what"`
	// Why says in one sentence what there is to know, Source where the rule was read.
	Why    string `json:"why"`
	Source string `json:"source"`
}

// Diff compares two plans: what a machine has, and what it is to have. What is secret is compared and not shown.
func Diff(before, after *Plan) (*Difference, error) {
	found, err := difference.Of(before.whole, after.whole)
	if err != nil {
		return nil, fmt.Errorf("compare two plans: %w", err)
	}
	d := &Difference{Class: Class(found.Class), Changes: []Change{}, Restarts: found.Restarts}
	for _, r := range found.Removed {
		d.Changes = append(d.Changes, change(r.Spec.Kind(), r.Spec.Name(), "removed", r.Judgement))
	}
	for _, r := range found.Added {
		d.Changes = append(d.Changes, change(r.Spec.Kind(), r.Spec.Name(), "added", r.Judgement))
	}
	parts := after.whole.ByID()
	for _, c := range found.Changed {
		spec := parts[c.ID].Spec
		d.Changes = append(d.Changes, change(spec.Kind(), spec.Name(), "changed", c.Judgement))
	}
	if v := found.Version; v != nil {
		d.Changes = append(d.Changes, change("Version", "kubernetes", "changed", v.Judgement))
	}
	return d, nil
}

func change(kind, name, how string, j difference.Judgement) Change {
	c := Change{Kind: kind, Name: name, How: how, Class: Class(j.Class)}
	for _, r := range j.Reasons {
		c.Reasons = append(c.Reasons, Reason{Class(r.Class), r.What, r.Why, r.Source})
	}
	return c
}
