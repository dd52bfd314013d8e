// Package resource is the vocabulary of a plan: what a machine can be made to have, as plain data.
//
// The planner writes resources, the engine applies them, and people read them; none of the three
// knows how the others work. The kinds are a closed set, in one table (Kinds). The package touches nothing: it holds
// values and their JSON form, in which secret content is never shown.
package resource

// UnitDir is where an administrator's units are (systemd.unit(5)); one there takes the place of a
// vendor's.
const UnitDir = "/etc/systemd/system"

// ID names a resource within a plan: its kind and its name, "File:/etc/kubernetes/azure.json".
type ID string

// Phase says when a resource can be applied.
type Phase string

// The phases.
const (
	// Base needs no cluster: an image can be baked with it.
	Base Phase = "base"
	// Join needs the cluster's or the node's own values.
	Join Phase = "join"
)

// Subject is what a resource is about, such as "kubelet" or "network": a plan is read by subjects.
type Subject string

// Subjects are in the order in which a person reads a plan.
var Subjects = []Subject{"kubelet", "join", "runtime", "network", "system", "gpu", "azure", "machine"}

// Resource is one thing that a plan wants to be so.
type Resource struct {
	// Subject groups it for a person. It decides nothing, and JSON does not have it.
	Subject Subject
	// Phase says when it can be applied.
	Phase Phase
	// Requires are the resources that must be so before. Files, directories, symlinks and mounts need not
	// be named: all of them are in place before anything is loaded, started or run.
	Requires []ID
	// After are the resources that must have been tried before, whatever has come of them.
	After []ID
	// Effects are what else it takes when this changes.
	Effects
	// ExitCode is the code of a provisioning that fails here; 0 means the agent's own.
	ExitCode int
	// Reason says why it is there, with its source, for whoever reads the plan.
	Reason string
	// Spec is what it is.
	Spec Spec
}

// Effects are what it takes when a resource changes, beside the change itself.
type Effects struct {
	// Restarts are the units that must be restarted, Reloads those that read it again while they run.
	Restarts []string
	Reloads  []string
	// Class is the least that a change of it takes, of a node that runs, where Why says in one sentence what there is to
	// know, and Source where that was read.
	Class  Class
	Why    string
	Source string
}

// Restarting are the effects of what units read when they start.
func Restarting(units ...string) Effects { return Effects{Restarts: units} }

// Units are those that a change is felt by, by the names that people call them by; "NAME (reload)" for one that goes on.
func (e Effects) Units() []string {
	units := ShortUnits(e.Restarts)
	for _, unit := range ShortUnits(e.Reloads) {
		units = append(units, unit+" (reload)")
	}
	return units
}

// ID returns the resource's name.
func (r Resource) ID() ID { return IDOf(r.Spec) }

// IDOf returns the name of the resource that spec describes.
func IDOf(spec Spec) ID { return ID(spec.Kind() + ":" + spec.Name()) }
