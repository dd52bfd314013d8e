package concern

import (
	"cmp"

	"github.com/slipway-dev/slipway/internal/containerdapi"
	"github.com/slipway-dev/slipway/internal/distro"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Input is what a concern decides from. It is computed once, before any of them, and no concern changes it.
type Input struct {
	// Config has what the machine knows of it: the version of the kubelet that is installed, the CA that was fetched. Given is
	// the config as it was given, which the plan is named after: a program that has that config finds the plan.
	Config, Given *nodeconfig.NodeConfig
	Facts         facts.Facts
	// Distro is the machine's distribution. Like is the ID of ID_LIKE that matched. Empty means that the table has the machine's own ID.
	Distro *distro.Distribution
	Like   string
	// Family is the node's family: its paths, and what differs between families.
	Family *profile.Profile
	// Minor is the minor version of the node's Kubernetes; Newest if it is not known.
	Minor int
	// Containerd and Runc are the paths of the programs that the node runs: the image's, or those of the packages that replace them.
	// ContainerdPackage and RuncPackage are these packages, or nil.
	Containerd, Runc               string
	ContainerdPackage, RuncPackage *resource.Download
	// Schema is how that containerd spells its configuration, Releases are the minor releases that it may be of, Driver is its cgroup
	// driver.
	Schema   CRISchema
	Releases containerdapi.Releases
	Driver   string
	// TakesInstalled means that the contract accepts any version of the installed kubelet.
	TakesInstalled bool
	// Awaited reports that the agent has yet to fetch the cluster's CA.
	Awaited bool
	// Defaults are the cluster's settings for the kubelets of all its nodes; nil if the agent has not read them. LacksDefaults means that
	// the agent has yet to read them.
	Defaults      *facts.KubeletDefaults
	LacksDefaults bool
	// Slice is the slice of the kubelet and its container runtime.
	Slice string
	// Method is how the node joins; the contract's may not be possible on the machine.
	Method nodeconfig.JoinMethod
	// FamilySettings are the family's own defaults in the kubelet's configuration file, or nil.
	FamilySettings map[string]any
	// ImageProvider is the family's image credential provider. Empty means that the node has another one, or none.
	ImageProvider string
	// Client is the program that gets the node's certificate for its machine's attested identity. Empty means that there is no such
	// program.
	Client string
	// CoreDNS is the program of the node's DNS cache; empty if the image does not have it.
	CoreDNS string
	// Certificate is the path of the certificate that the kubelet gets for its bootstrap token, or that the client gets for the kubelet.
	// Empty means that the path is not known, or that the kubelet gets no certificate.
	Certificate string
	// Starter is the index of the author's command that starts the kubelet, or -1.
	Starter int
	// Prepares means that the plan is for an image that is being built, from the facts of its tree.
	Prepares bool
	// Agentless means that the node has no agent: the machine itself finds out missing facts at each boot.
	Agentless bool
	// AsksCloud means that Slipway knows how such a machine asks its cloud.
	AsksCloud bool
	// Capacity is what the machine can hold; nil if the contract names no rule for it.
	Capacity *machineCapacity
	// Wanted are the variables with facts of the machine that the plan needs, each with the setting that
	// needs it.
	Wanted map[string]string
	// Resolver is the file with the DNS servers that the kubelet gives to pods with the host's DNS, if the contract names none. Empty
	// means the kubelet's default. ResolverAssumed means that the distribution decides it, because no fact and no unit of the
	// contract does.
	Resolver        string
	ResolverAssumed bool
}

// Instance is the cloud's description of the machine; the zero value if it is not known.
func (in *Input) Instance() facts.Instance { return *cmp.Or(in.Facts.Instance, &facts.Instance{}) }

// Joins reports whether the machine becomes a node, and is not only prepared to.
func (in *Input) Joins() bool { return in.Config.Join.Method != nodeconfig.JoinNone }
