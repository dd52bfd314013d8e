package node

import (
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Facts are the known properties of a machine. The zero value knows nothing: a plan is then for a machine of which everything is
// unknown.
type Facts struct{ known facts.Facts }

// ParseFacts parses facts that "slipway-node facts" has recorded.
func ParseFacts(recorded []byte) (Facts, error) {
	known, err := facts.Parse(recorded)
	return Facts{known}, err
}

// Plan is the wanted node, as data, without its secrets. It is the same for the same contract and facts.
type Plan struct {
	// Config is the digest of its config. It changes with each credential.
	Config string `json:"config"`
	// Files are the files, directories and links, base phase first, by path.
	Files []File `json:"files"`
	// Units are those that systemd starts, by name.
	Units []Unit `json:"units"`
	// Actions are all other parts: kernel modules and parameters, commands, checks.
	Actions []Action `json:"actions"`

	whole resource.Plan
}

// Step is common to all parts of a plan.
type Step struct {
	// Phase is "base" for a part that can be prepared in an image, "join" for one that needs the cluster.
	Phase string `json:"phase"`
	// Reason is why the part exists, with its source.
	Reason string `json:"reason,omitempty"`
	// Restarts are the units that restart when it changes.
	Restarts []string `json:"restarts,omitempty"`
}

// File is a file, a directory, a symbolic link or a copy of a file on the machine.
type File struct {
	Path string `json:"path"`
	// Kind is "File", "Directory", "Symlink", "Copy" or "Block".
	Kind string `json:"kind"`
	// Mode is the permission bits. 0 for a link or a copy.
	Mode uint32 `json:"mode,omitempty"`
	// Secret means that only root can read it. Its content is not shown.
	Secret bool `json:"secret,omitempty"`
	// Content is a file's content. It is nil if the file is secret.
	Content []byte `json:"content,omitempty"`
	// Target is the target of a link, or the source of a copy.
	Target string `json:"target,omitempty"`
	Step
}

// Unit is a systemd unit that is started.
type Unit struct {
	Name string `json:"name"`
	Step
}

// Action is an action or check besides files and units.
type Action struct {
	// Kind is "Module", "Sysctl", "Command" or "Check".
	Kind string `json:"kind"`
	Name string `json:"name"`
	// What describes it: the value of a parameter, the subject of a check. It contains no secret.
	What string `json:"what,omitempty"`
	Step
}

// Plan plans the node. The problems are those of [Contract.Problems] and the planner's, in the terms of the contract's author,
// fatal ones first. If one is fatal, no such node can be made, and the plan is incomplete.
func (c *Contract) Plan(known Facts) (*Plan, []nodeconfig.Problem) {
	whole, problems := c.read.Plan(known.known)
	p := &Plan{Config: whole.Config, Files: []File{}, Units: []Unit{}, Actions: []Action{}, whole: whole}
	for _, r := range whole.Resources {
		step := Step{Phase: string(r.Phase), Reason: r.Reason, Restarts: r.Restarts}
		switch spec := r.Spec.(type) {
		case *resource.File:
			f := File{Path: spec.Path, Kind: spec.Kind(), Mode: spec.Mode, Secret: spec.Secret, Step: step}
			if !spec.Secret {
				f.Content = spec.Content
			}
			p.Files = append(p.Files, f)
		case *resource.Directory:
			p.Files = append(p.Files, File{Path: spec.Path, Kind: spec.Kind(), Mode: spec.Mode, Step: step})
		case *resource.Symlink:
			p.Files = append(p.Files, File{Path: spec.Path, Kind: spec.Kind(), Target: spec.Target, Step: step})
		case *resource.Copy:
			p.Files = append(p.Files, File{Path: spec.Path, Kind: spec.Kind(), Target: spec.Source, Step: step})
		case *resource.Block:
			p.Files = append(p.Files, File{Path: spec.Path, Kind: spec.Kind(), Content: []byte(spec.Content), Step: step})
		case *resource.Unit:
			p.Units = append(p.Units, Unit{spec.Unit, step})
		case *resource.Sysctl:
			p.Actions = append(p.Actions, Action{spec.Kind(), spec.Key, spec.Value, step})
		default:
			p.Actions = append(p.Actions, Action{spec.Kind(), spec.Name(), spec.Describe().What, step})
		}
	}
	return p, problems
}
