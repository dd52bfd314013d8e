package plan

import (
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// output is what the concerns have decided.
type output struct {
	// concern is the name of the one whose turn it is.
	concern   string
	resources []resource.Resource
	// owners are the resources' concerns, one for each; asked are the settings that named their places, by index.
	owners []string
	asked  map[int]string
	groups map[group][]resource.ID
	// atBoot is what makes a resource so again at each boot, by the resource's index.
	atBoot map[int]resource.ID
	// node is what was decided of the node, besides what it is written into.
	node resource.Node
	// What it collects is what the contract's author should know.
	problem.Collector
}

func (o *output) add(r resource.Resource) {
	o.resources = append(o.resources, r)
	o.owners = append(o.owners, o.concern)
}

// addTo adds a resource to a group, if any.
func (o *output) addTo(g group, r resource.Resource) {
	o.add(r)
	if g != "" {
		o.belong(g)
	}
}

// belong puts the last resource into one more group.
func (o *output) belong(g group) { o.member(g, o.resources[len(o.resources)-1].ID()) }

// member puts what has an ID into a group.
func (o *output) member(g group, id resource.ID) {
	if o.groups == nil {
		o.groups = make(map[group][]resource.ID)
	}
	o.groups[g] = append(o.groups[g], id)
}

// join adds what only a node has that joins, to a group, if any. It returns it for what there is to say besides, until the next is
// added.
func (o *output) join(g group, spec resource.Spec, code int, reason string) *resource.Resource {
	o.addTo(g, resource.Resource{Phase: resource.Join, ExitCode: code, Reason: reason, Spec: spec})
	return &o.resources[len(o.resources)-1]
}

// askedBy says which setting of the contract named the last resource's place.
func (o *output) askedBy(path string) {
	if o.asked == nil {
		o.asked = make(map[int]string)
	}
	o.asked[len(o.resources)-1] = path
}

// repeatedBy says what makes the last resource so again at each boot: a file, or a link that enables it. Who prepares an
// image needs that of everything that does not last by itself.
func (o *output) repeatedBy(spec resource.Spec) {
	if o.atBoot == nil {
		o.atBoot = make(map[int]resource.ID)
	}
	o.atBoot[len(o.resources)-1] = resource.IDOf(spec)
}

// file adds a file of root's.
func (o *output) file(phase resource.Phase, path string, mode uint32, content []byte, reason string, restarts ...string) {
	o.add(resource.Resource{
		Phase:   phase,
		Effects: resource.Restarting(restarts...),
		Reason:  reason,
		Spec:    &resource.File{Path: path, Mode: mode, Content: content},
	})
}

// secret adds a file that only root reads and nobody is shown.
func (o *output) secret(phase resource.Phase, path string, content []byte, reason string, restarts ...string) {
	o.add(resource.Resource{
		Phase:   phase,
		Effects: resource.Restarting(restarts...),
		Reason:  reason,
		Spec:    &resource.File{Path: path, Mode: 0o600, Content: content, Secret: true},
	})
}

// guarded adds a file that is secret where it may hold a credential.
func (o *output) guarded(secret bool, phase resource.Phase, path string, mode uint32, content []byte, reason string, restarts ...string) {
	if secret {
		o.secret(phase, path, content, reason, restarts...)
	} else {
		o.file(phase, path, mode, content, reason, restarts...)
	}
}

// sourced is a reason with its source, in the family's own terms.
func sourced(reason, source string) string {
	if source == "" {
		return reason
	}
	return reason + " (" + source + ")"
}

func (o *output) directory(path string, mode uint32, reason string) {
	o.add(resource.Resource{
		Phase:  resource.Base,
		Reason: reason,
		Spec:   &resource.Directory{Path: path, Mode: mode},
	})
}

// enable makes a unit start at boot: the link that "systemctl enable" makes, as a resource, so that
// it works on a directory too.
func (o *output) enable(phase resource.Phase, unit string) {
	o.add(resource.Resource{Phase: phase, Reason: "starts at boot", Spec: wants(unit)})
}

// wants is the link by which a unit starts at boot.
func wants(unit string) *resource.Symlink {
	return &resource.Symlink{Path: resource.UnitDir + "/multi-user.target.wants/" + unit, Target: resource.UnitDir + "/" + unit}
}

// notApplied reports a setting that this version does not apply.
func (o *output) notApplied(path string) { o.Add(notApplied(path)) }

func notApplied(path string) nodeconfig.Problem {
	return nodeconfig.Problem{Kind: nodeconfig.NotApplied, Path: path, Reason: "is not applied by this version"}
}
