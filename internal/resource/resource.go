// Package resource is the vocabulary of a plan: what a machine can have, as plain data.
//
// The planner writes resources, the engine applies them, and people read them; none of these depends on how the others
// work. The kinds are a closed set, in one table (Kinds). The package does no I/O: it holds values and their JSON form,
// which never shows secret content.
package resource

// UnitDir is the directory of an administrator's units (systemd.unit(5)); a unit there replaces a vendor's.
const UnitDir = "/etc/systemd/system"

// ID names a resource within a plan: its kind and its name, "File:/etc/kubernetes/azure.json".
type ID string

// Phase is when a resource can be applied.
type Phase string

// The phases.
const (
	// Base needs no cluster: an image can be baked with it.
	Base Phase = "base"
	// Join needs values of the cluster or of the node.
	Join Phase = "join"
)

// Subject is what a resource is about, such as "kubelet" or "network": a plan is read by subjects.
type Subject string

// Subjects are in the order in which a person reads a plan.
var Subjects = []Subject{"kubelet", "join", "runtime", "network", "system", "gpu", "azure", "machine"}

// Resource is one desired state in a plan.
type Resource struct {
	// Subject groups it for a person. It decides nothing, and JSON does not have it.
	Subject Subject
	// Phase is when it can be applied.
	Phase Phase
	// Requires are the resources that must be applied before. Files, directories, symlinks and mounts need not be
	// listed: all of them are in place before anything is loaded, started or run.
	Requires []ID
	// After are the resources that must have been tried before, with any outcome.
	After []ID
	// Effects are the consequences of its change.
	Effects
	// ExitCode is the provisioning's exit code if it fails. 0 means the agent's.
	ExitCode int
	// Reason explains it to readers of the plan, with a source.
	Reason string
	// Spec is its specification.
	Spec Spec
}

// Effects are the consequences of a resource's change.
type Effects struct {
	// Restarts are the units to restart. Reloads are those that read it again while they run.
	Restarts []string
	Reloads  []string
	// Class is the least class of its change on a running node. Why explains it in one sentence, and Source is the
	// source of that fact.
	Class  Class
	Why    string
	Source string
}

// Restarting are the effects of files that units read when they start.
func Restarting(units ...string) Effects { return Effects{Restarts: units} }

// Units are the affected units, by their short names; "NAME (reload)" for one that keeps running.
func (e Effects) Units() []string {
	units := ShortUnits(e.Restarts)
	for _, unit := range ShortUnits(e.Reloads) {
		units = append(units, unit+" (reload)")
	}
	return units
}

// ID returns the resource's ID.
func (r Resource) ID() ID { return IDOf(r.Spec) }

// IDOf returns the ID of the resource with a spec.
//
//go:noinline
func IDOf(spec Spec) ID { return ID(spec.Kind() + ":" + spec.Name()) }
