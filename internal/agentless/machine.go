package agentless

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
)

// Machine is a plan for a node without an agent. Everything is in the order of writing.
type Machine struct {
	// Config is the digest of the config that the plan was made from.
	Config      string
	Directories []*resource.Directory
	Files       []*resource.File
	Links       []*resource.Symlink
	// States are units that must not run.
	States []*resource.UnitState
	// Started are the plan's units. Restarted and Reloaded are others that read a file of the plan, if they run.
	Started, Restarted, Reloaded []string
	// OnceDone is a file that exists when the run-once commands have run. It is empty if there are no such commands.
	OnceDone string
	// Losses are the parts that are not done.
	Losses []Unsupported

	// plan is what the machine is made of.
	plan resource.Plan
}

// Unsupported is a part of a plan that a node without an agent does not have.
type Unsupported struct {
	ID resource.ID
	// Why describes what is missing.
	Why string
	// Fatal reports that the node could not join, would be less secure, or would differ from the contract.
	Fatal bool
}

// writers write the kinds whose rows in [resource.Kinds] have neither a command nor a loss.
var writers = map[string]func(*builder, *resource.Resource){
	"File": (*builder).file,
	"Directory": func(b *builder, r *resource.Resource) {
		b.Directories = append(b.Directories, r.Spec.(*resource.Directory))
	},
	"Symlink":    func(b *builder, r *resource.Resource) { b.Links = append(b.Links, r.Spec.(*resource.Symlink)) },
	"Unit":       func(b *builder, r *resource.Resource) { b.Started = append(b.Started, r.Spec.Name()) },
	"UnitState":  func(b *builder, r *resource.Resource) { b.States = append(b.States, r.Spec.(*resource.UnitState)) },
	"Block":      (*builder).block,
	"Command":    (*builder).command,
	"Check":      (*builder).check,
	"TrustStore": (*builder).trustStore,
}

// add renders a resource by its kind. A resource of an unknown kind is a fatal loss.
func (b *builder) add(r *resource.Resource) {
	kind := resource.KindOf(r.Spec).Agentless
	switch write := writers[r.Spec.Kind()]; {
	case write != nil:
		write(b, r)
	case kind.AtBoot != nil:
		argv, optional := kind.AtBoot(r.Spec)
		b.run(optional, argv...)
	case kind.Lost != "":
		b.lose(r, kind.Fatal, kind.Lost)
	default:
		b.lose(r, true, "it needs the agent")
	}
}

// builder collects the parts of a machine.
type builder struct {
	Machine
	family *profile.Profile
	setup  []command
	// once are the run-once commands, and forOnce the units that they need.
	once    []command
	forOnce []string
	// network reports whether the kubelet's start waits for the network.
	network bool
	// blocks is the number of blocks.
	blocks int
	// tools are the advisory commands, by the resource before them: each does what the agent has done there.
	tools map[resource.ID]*resource.Command
}

// Of renders a plan for a node family.
func Of(p resource.Plan, family *profile.Profile) Machine {
	b := &builder{Machine: Machine{Config: p.Config}, family: family, tools: make(map[resource.ID]*resource.Command)}
	for _, r := range p.Resources {
		if c, ok := r.Spec.(*resource.Command); ok && c.Advisory {
			for _, id := range r.After {
				b.tools[id] = c
			}
		}
	}
	for _, r := range inOrder(p) {
		b.add(r)
	}
	b.effects(p)
	b.setupUnit()
	b.onceUnit()
	slices.SortFunc(b.Directories, func(x, y *resource.Directory) int { return cmp.Compare(x.Path, y.Path) })
	slices.SortFunc(b.Files, func(x, y *resource.File) int { return cmp.Compare(x.Path, y.Path) })
	slices.SortFunc(b.Links, func(x, y *resource.Symlink) int { return cmp.Compare(x.Path, y.Path) })
	slices.SortFunc(b.Losses, func(x, y Unsupported) int { return cmp.Compare(x.ID, y.ID) })
	b.plan = p
	return b.Machine
}

// Fatal are the losses that prevent the node.
func (m *Machine) Fatal() []Unsupported {
	return slices.DeleteFunc(slices.Clone(m.Losses), func(l Unsupported) bool { return !l.Fatal })
}

func (b *builder) lose(r *resource.Resource, fatal bool, why string) {
	b.Losses = append(b.Losses, Unsupported{r.ID(), why, fatal})
}

func (b *builder) file(r *resource.Resource) {
	file := r.Spec.(*resource.File)
	b.Files = append(b.Files, file)
	if program := b.family.Agent.Program; program != "" && bytes.Contains(file.Content, []byte(path.Base(program))) {
		b.lose(r, true, "it starts "+path.Base(program)+", which such a node does not have")
	}
}

func (b *builder) check(r *resource.Resource) {
	if r.Spec.(*resource.Check).Network != nil {
		b.network = true
		return
	}
	b.lose(r, false, "no agent checks it")
}

func (b *builder) command(r *resource.Resource) {
	c := r.Spec.(*resource.Command)
	switch {
	case c.Advisory: // it runs instead of the agent's work
	case !c.Stdin.IsZero():
		b.lose(r, true, "it needs a secret that must not stand in a file")
	case c.Once != "":
		b.runOnce(r)
	case len(r.After) > 0 || slices.ContainsFunc(r.Requires, waits):
		b.lose(r, !c.Optional, "it is run only when something else runs already")
	case c.While != "":
		b.lose(r, false, "it is only for a machine on which "+c.While+" runs already")
	default:
		b.setup = append(b.setup, command{argv: c.Argv, env: c.Env, timeout: c.Timeout.Std(), optional: c.Optional})
	}
}

// trustStore makes the distribution's program build the store.
func (b *builder) trustStore(r *resource.Resource) {
	if c := b.tools[r.ID()]; c != nil {
		b.setup = append(b.setup, command{argv: c.Argv, env: c.Env, timeout: c.Timeout.Std()})
	} else {
		b.lose(r, true, "no program of the distribution makes it")
	}
}

// waits reports whether something runs only when the kubelet or another unit does.
func waits(id resource.ID) bool {
	kind, _, _ := strings.Cut(string(id), ":")
	return kind == "Unit" || kind == "Check"
}

func (b *builder) run(optional bool, argv ...string) {
	b.setup = append(b.setup, command{argv: argv, optional: optional})
}

// effects finds the units that already run on an image and read files of the plan.
func (b *builder) effects(p resource.Plan) {
	add := func(units *[]string, names []string) {
		for _, name := range names {
			if !slices.Contains(b.Started, name) && !slices.Contains(*units, name) {
				*units = append(*units, name)
			}
		}
	}
	for i := range p.Resources {
		add(&b.Restarted, p.Resources[i].Restarts)
		add(&b.Reloaded, p.Resources[i].Reloads)
	}
	if len(b.once) > 0 { // they run before the kubelet, or have just started it
		b.Restarted = slices.DeleteFunc(b.Restarted, func(unit string) bool { return unit == kubeletUnit })
	}
	slices.Sort(b.Restarted)
	slices.Sort(b.Reloaded)
}

// inOrder are a plan's resources, each after those that it requires, and otherwise in the plan's order. systemd starts
// a unit's required units with it: restarting one after that would interrupt it.
func inOrder(p resource.Plan) []*resource.Resource {
	at := make(map[resource.ID]int, len(p.Resources))
	for i := range p.Resources {
		at[p.Resources[i].ID()] = i
	}
	ordered, seen := make([]*resource.Resource, 0, len(p.Resources)), make([]bool, len(p.Resources))
	var visit func(i int)
	visit = func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		r := &p.Resources[i]
		for _, id := range slices.Concat(r.Requires, r.After) {
			if required, ok := at[id]; ok {
				visit(required)
			}
		}
		ordered = append(ordered, r)
	}
	for i := range p.Resources {
		visit(i)
	}
	return ordered
}

// String describes a loss for people.
func (l Unsupported) String() string { return fmt.Sprintf("%s: %s", l.ID, l.Why) }
