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

// group is a number of resources that others require together, whichever concern brings them, and whether there are
// any or none.
type group resource.ID

const (
	// kernelGroup are the kernel's modules and parameters.
	kernelGroup group = "group of the kernel"
	// imageGroup are the checks of the image.
	imageGroup group = "group of the image"
	// kubeletGroup is what must be so before the kubelet starts, beside what every kubelet needs.
	kubeletGroup group = "group of what precedes the kubelet"
	// startGroup is what starts the kubelet: its unit, or a command of the author's.
	startGroup group = "group of what starts the kubelet"
	// runtimeGroup is what must be so before the container runtime starts, beside what every one needs.
	runtimeGroup group = "group of what precedes the container runtime"
	// outboundGroup is what must succeed before anything that may need a way out of the cluster's network.
	outboundGroup group = "group of the way out"
	// trustGroup is what makes programs trust the contract's certificates.
	trustGroup group = "group of the trusted certificates"
	// registryGroup is the check that the registry of a cluster without a way out can be reached.
	registryGroup group = "group of the registry that is reached"
	// joinedGroup are the checks without which a kubelet that has started cannot run.
	joinedGroup group = "group of what a started kubelet needs"
	// hostNameGroup is the host's name, where the node gets one from its cloud.
	hostNameGroup group = "group of the host's name"
	// networkGroup is the wait for what the kubelet reads of the network, and namedGroup the same where the host is named
	// meanwhile: the image has a name, too, so no program can see that it is not the last.
	networkGroup group = "group of the network"
	namedGroup   group = "group of the wait for the host's name"
	// certificateGroup is the request for the kubelet's certificate.
	certificateGroup group = "group of the kubelet's certificate"
	// firstGroup is what the kubelet starts after, whatever comes of it: its certificates, which it gets itself where it does not
	// find them, and logind.
	firstGroup group = "group of what the kubelet starts after"
)

// groups are all there are; one may be empty.
var groups = []group{kernelGroup, imageGroup, kubeletGroup, startGroup, runtimeGroup, outboundGroup, trustGroup, joinedGroup, registryGroup,
	hostNameGroup, networkGroup, namedGroup, certificateGroup, firstGroup}

// all is how a resource requires a group.
func (g group) all() resource.ID { return resource.ID(g) }

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
