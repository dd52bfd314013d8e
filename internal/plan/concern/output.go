package concern

import (
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Output is what the concerns have decided.
type Output struct {
	// Concern is the name of the concern that runs now, and Subject is its subject.
	Concern   string
	Subject   resource.Subject
	Resources []resource.Resource
	// owners are the resources' concerns, one for each; asked are the settings that named their places, by index.
	owners []string
	asked  map[int]string
	groups map[Group][]resource.ID
	// atBoot is what makes a resource so again at each boot, by the resource's index.
	atBoot map[int]resource.ID
	// Node holds the decisions about the node, apart from its resources.
	Node resource.Node
	// What it collects is what the contract's author should know.
	problem.Collector
}

// Append adds a resource that is in no group.
func (o *Output) Append(r resource.Resource) { o.AppendTo("", r) }

// AppendTo adds a resource, to a group if the group is not empty.
func (o *Output) AppendTo(g Group, r resource.Resource) {
	r.Subject = o.Subject
	o.Resources = append(o.Resources, r)
	o.owners = append(o.owners, o.Concern)
	if g != "" {
		o.Belong(g)
	}
}

// Belong puts the last resource into one more group.
func (o *Output) Belong(g Group) { o.Member(g, o.last().ID()) }

// Member puts what has an ID into a group.
func (o *Output) Member(g Group, id resource.ID) {
	if o.groups == nil {
		o.groups = make(map[Group][]resource.ID)
	}
	o.groups[g] = append(o.groups[g], id)
}

// Join adds a resource of a node that joins, to a group if the group is not empty. It returns the resource; the caller may change it
// until it adds the next one.
func (o *Output) Join(g Group, spec resource.Spec, code int, reason string) *resource.Resource {
	o.AppendTo(g, resource.Resource{Phase: resource.Join, ExitCode: code, Reason: reason, Spec: spec})
	return o.last()
}

func (o *Output) last() *resource.Resource { return &o.Resources[len(o.Resources)-1] }

// AskedBy records which setting of the contract named the last resource's path or unit.
//
//go:noinline
func (o *Output) AskedBy(path string) {
	if o.asked == nil {
		o.asked = make(map[int]string)
	}
	o.asked[len(o.Resources)-1] = path
}

// RepeatedBy records what restores the last resource at each boot: a file, or a link that enables it. Baking an image needs that for
// everything that does not survive a boot by itself.
func (o *Output) RepeatedBy(spec resource.Spec) {
	if o.atBoot == nil {
		o.atBoot = make(map[int]resource.ID)
	}
	o.atBoot[len(o.Resources)-1] = resource.IDOf(spec)
}

// File adds a file of root's.
func (o *Output) File(phase resource.Phase, path string, mode uint32, content []byte, reason string, restarts ...string) {
	o.Append(resource.Resource{
		Phase:   phase,
		Effects: resource.Restarting(restarts...),
		Reason:  reason,
		Spec:    &resource.File{Path: path, Mode: mode, Content: content},
	})
}

// Secret adds a file that only root reads and no output shows.
func (o *Output) Secret(phase resource.Phase, path string, content []byte, reason string, restarts ...string) {
	o.Append(resource.Resource{
		Phase:   phase,
		Effects: resource.Restarting(restarts...),
		Reason:  reason,
		Spec:    &resource.File{Path: path, Mode: 0o600, Content: content, Secret: true},
	})
}

// Guarded adds a file that is secret where it may hold a credential.
func (o *Output) Guarded(secret bool, phase resource.Phase, path string, mode uint32, content []byte, reason string, restarts ...string) {
	if secret {
		o.Secret(phase, path, content, reason, restarts...)
	} else {
		o.File(phase, path, mode, content, reason, restarts...)
	}
}

// Sourced is a reason with its source, in the family's own terms.
//
//go:noinline
func Sourced(reason, source string) string {
	if source == "" {
		return reason
	}
	return reason + " (" + source + ")"
}

// Directory adds a directory.
func (o *Output) Directory(path string, mode uint32, reason string) {
	o.Append(resource.Resource{
		Phase:  resource.Base,
		Reason: reason,
		Spec:   &resource.Directory{Path: path, Mode: mode},
	})
}

// Enable makes a unit start at boot: the link that "systemctl enable" makes, as a resource, so that
// it works on a directory too.
func (o *Output) Enable(phase resource.Phase, unit string) {
	o.Append(resource.Resource{Phase: phase, Reason: "starts at boot", Spec: Wants(unit)})
}

// Wants is the link by which a unit starts at boot.
func Wants(unit string) *resource.Symlink {
	return &resource.Symlink{Path: resource.UnitDir + "/multi-user.target.wants/" + unit, Target: resource.UnitDir + "/" + unit}
}

// NotApplied reports a setting that this version does not apply.
func (o *Output) NotApplied(path string) {
	o.Report(false, nodeconfig.NotApplied, path, "is not applied by this version")
}
