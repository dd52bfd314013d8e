package node

import (
	"fmt"

	"github.com/slipway-dev/slipway/internal/difference"
)

// Class is what a change requires of a running node. A greater one includes the smaller ones.
type Class int

// The classes.
const (
	// None: only the change itself.
	None = Class(difference.None)
	// Reload: running units, or systemd, reload their configuration.
	Reload = Class(difference.Reload)
	// Restart: units restart; pods keep running.
	Restart = Class(difference.Restart)
	// Drain: the node must have no pods.
	Drain = Class(difference.Drain)
	// Reboot: the node is drained, and the machine reboots.
	Reboot = Class(difference.Reboot)
	// Replace: another machine is required.
	Replace = Class(difference.Replace)
)

// String returns the class's name: "none", "reload", "restart", "drain", "reboot", "replace".
func (c Class) String() string { return difference.Class(c).String() }

// MarshalText writes the class's name.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Difference is the difference between two nodes.
type Difference struct {
	// Class is the greatest class of all changes, or None.
	Class Class `json:"class"`
	// Changes are the differences: parts that only the first has, that only the second has, and that differ.
	Changes []Change `json:"changes"`
	// Restarts are the units that restart when a machine changes from the first to the second, by name.
	Restarts []string `json:"restarts"`
}

// Change is one part of a plan that differs.
type Change struct {
	// Kind and Name identify the part: "File" and its path, "Unit" and its name; "Version" and "kubernetes" for the version in the
	// contracts.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// How is "added", "removed" or "changed".
	How   string `json:"how"`
	Class Class  `json:"class"`
	// Reasons are the rules that apply to the change, the one with the greatest class first. A change of a class above None has at
	// least one.
	Reasons []Reason `json:"reasons,omitempty"`
}

// Reason is a rule that applies to a change.
type Reason struct {
	Class Class `json:"class"`
	// What is the changed part: a setting, a flag, a unit.
	What string `json:"what"`
	// Why is one sentence with the reason, Source the rule's source.
	Why    string `json:"why"`
	Source string `json:"source"`
}

// Diff compares two plans: a machine's present one, and the wanted one. It compares secrets and does not show them.
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
