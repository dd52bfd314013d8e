// Package resource is the vocabulary of a plan: what a machine can be made to have, as plain data.
//
// The planner writes resources, the engine applies them, and people read them; none of the three
// knows how the others work. The kinds are a closed set. The package touches nothing: it holds
// values and their JSON form, in which secret content is never shown.
package resource

import (
	"cmp"
	"slices"
)

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

// Resource is one thing that a plan wants to be so.
type Resource struct {
	// Phase says when it can be applied.
	Phase Phase
	// Requires are the resources that must be so before. Files, directories and symlinks need not
	// be named: all of them are in place before anything is loaded, started or run.
	Requires []ID
	// Restarts are the units that must be restarted when this changes.
	Restarts []string
	// ExitCode is the code of a provisioning that fails here; 0 means the agent's own.
	ExitCode int
	// Reason says why it is there, with its source, for whoever reads the plan.
	Reason string
	// Spec is what it is.
	Spec Spec
}

// ID returns the resource's name.
func (r Resource) ID() ID { return IDOf(r.Spec) }

// IDOf returns the name of the resource that spec describes.
func IDOf(spec Spec) ID { return ID(spec.Kind() + ":" + spec.Name()) }

// Spec is one of the kinds of resource: *File, *Directory, *Symlink, *Sysctl, *Module, *Unit,
// *Command or *Check.
type Spec interface {
	// Kind is the type's name.
	Kind() string
	// Name distinguishes it from others of its kind.
	Name() string
}

// File is a regular file, whole.
type File struct {
	Path    string
	Mode    uint32 // permission bits
	UID     int
	GID     int
	Content []byte
	// Secret content is written to the machine and shown to nobody.
	Secret bool
	// Until are paths: once a file is at each that is not empty, this one is not needed any more, and is
	// removed. It is for a credential that others take the place of, and its content is kept nowhere else.
	Until []string
}

// Directory is a directory; what else it holds is not touched.
type Directory struct {
	Path string
	Mode uint32 // permission bits
	UID  int
	GID  int
}

// Symlink is a symbolic link.
type Symlink struct {
	Path   string `json:"path"`
	Target string `json:"target"`
}

// Sysctl is a kernel parameter, by dotted name. Optional ones may be missing from the kernel.
type Sysctl struct {
	Key      string `json:"key"`
	Value    string `json:"value"`
	Optional bool   `json:"optional,omitempty"`
}

// Module is a kernel module that is loaded.
type Module struct {
	Module string `json:"module"`
}

// Unit is a systemd unit that is active.
type Unit struct {
	Unit string `json:"unit"`
}

// Command is a program that is run, where no API exists for what it does.
type Command struct {
	// Label names the command within the plan.
	Label   string            `json:"label"`
	Argv    []string          `json:"argv"`
	Env     map[string]string `json:"env,omitempty"`
	Timeout Duration          `json:"timeout"`
}

// Kind implements Spec.
func (*File) Kind() string { return "File" }

// Name implements Spec.
func (f *File) Name() string { return f.Path }

// Temporary reports whether the file is there only until others are.
func (f *File) Temporary() bool { return len(f.Until) > 0 }

// Kind implements Spec.
func (*Directory) Kind() string { return "Directory" }

// Name implements Spec.
func (d *Directory) Name() string { return d.Path }

// Kind implements Spec.
func (*Symlink) Kind() string { return "Symlink" }

// Name implements Spec.
func (s *Symlink) Name() string { return s.Path }

// Kind implements Spec.
func (*Sysctl) Kind() string { return "Sysctl" }

// Name implements Spec.
func (s *Sysctl) Name() string { return s.Key }

// Kind implements Spec.
func (*Module) Kind() string { return "Module" }

// Name implements Spec.
func (m *Module) Name() string { return m.Module }

// Kind implements Spec.
func (*Unit) Kind() string { return "Unit" }

// Name implements Spec.
func (u *Unit) Name() string { return u.Unit }

// Kind implements Spec.
func (*Command) Kind() string { return "Command" }

// Name implements Spec.
func (c *Command) Name() string { return c.Label }

// Kind implements Spec.
func (*Check) Kind() string { return "Check" }

// Name implements Spec.
func (c *Check) Name() string { return c.Label }

// OnDisk reports whether a spec is of something at a path: a file, a directory or a symbolic link, whose name is the path.
func OnDisk(spec Spec) bool {
	switch spec.(type) {
	case *File, *Directory, *Symlink:
		return true
	}
	return false
}

// Plan is what a machine should be like.
type Plan struct {
	// Config is the digest of the config that the plan was made from.
	Config string
	// Dialect is the dialect that the config was written in.
	Dialect string
	// Resources are sorted by phase and ID.
	Resources []Resource
	// Health are the checks that tell whether a node that runs is well with the plan. They are for who changes it, or
	// goes back to it; nobody applies them. Where there is none it is not known how to ask.
	Health []Resource
}

// Sort brings the resources into their order.
func (p *Plan) Sort() {
	slices.SortFunc(p.Resources, func(a, b Resource) int {
		return cmp.Or(cmp.Compare(a.Phase, b.Phase), cmp.Compare(a.ID(), b.ID()))
	})
}

// Only returns the plan's resources of one phase, as a plan.
func (p Plan) Only(phase Phase) Plan {
	p.Resources = slices.DeleteFunc(slices.Clone(p.Resources), func(r Resource) bool { return r.Phase != phase })
	return p
}
