package concern

import "github.com/slipway-dev/slipway/internal/resource"

// KubeletActive is the label of the check that the kubelet runs and has taken its settings.
const KubeletActive = "kubelet-active"

// APIServerLabel is the label of the check that the API server answers.
const APIServerLabel = "api-server"

// Group is a number of resources that others require together, whichever concern brings them, and whether there are
// any or none.
type Group resource.ID

const (
	// KernelGroup are the kernel's modules and parameters.
	KernelGroup Group = "group of the kernel"
	// ImageGroup are the checks of the image.
	ImageGroup Group = "group of the image"
	// KubeletGroup is what must be so before the kubelet starts, beside what every kubelet needs.
	KubeletGroup Group = "group of what precedes the kubelet"
	// StartGroup is what starts the kubelet: its unit, or a command of the author's.
	StartGroup Group = "group of what starts the kubelet"
	// RuntimeGroup is what must be so before the container runtime starts, beside what every one needs.
	RuntimeGroup Group = "group of what precedes the container runtime"
	// OutboundGroup is what must succeed before anything that may need a way out of the cluster's network.
	OutboundGroup Group = "group of the way out"
	// TrustGroup is what makes programs trust the contract's certificates.
	TrustGroup Group = "group of the trusted certificates"
	// RegistryGroup is the check that the registry of a cluster without a way out can be reached.
	RegistryGroup Group = "group of the registry that is reached"
	// JoinedGroup are the checks without which a kubelet that has started cannot run.
	JoinedGroup Group = "group of what a started kubelet needs"
	// HostNameGroup is the host's name, where the node gets one from its cloud.
	HostNameGroup Group = "group of the host's name"
	// NetworkGroup is the wait for what the kubelet reads of the network. NamedGroup is the same wait if the host gets its name
	// at the same time: the image has a name, too, so no program can see that it is not the final one.
	NetworkGroup Group = "group of the network"
	NamedGroup   Group = "group of the wait for the host's name"
	// CertificateGroup is the request for the kubelet's certificate.
	CertificateGroup Group = "group of the kubelet's certificate"
	// FirstGroup is what the kubelet starts after, even if it failed: logind, and the kubelet's certificates, which the kubelet requests
	// itself if they are missing.
	FirstGroup Group = "group of what the kubelet starts after"
)

// groups are all there are; one may be empty.
var groups = []Group{KernelGroup, ImageGroup, KubeletGroup, StartGroup, RuntimeGroup, OutboundGroup, TrustGroup, JoinedGroup, RegistryGroup,
	HostNameGroup, NetworkGroup, NamedGroup, CertificateGroup, FirstGroup}

// All is how a resource requires a group.
func (g Group) All() resource.ID { return resource.ID(g) }
