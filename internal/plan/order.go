package plan

import "github.com/slipway-dev/slipway/internal/resource"

// kubeletActive is the label of the check that the kubelet runs and has taken its settings.
const kubeletActive = "kubelet-active"

// apiServerLabel is the label of the check that the API server answers.
const apiServerLabel = "api-server"

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
