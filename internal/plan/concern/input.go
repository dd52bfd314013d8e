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
	// Distro is the machine's distribution. Like is the ID of ID_LIKE by which it was found; empty if it is in the table itself.
	Distro *distro.Distribution
	Like   string
	// Family is the one that the node is of: where things are, and what differs between families.
	Family *profile.Profile
	// Minor is that of the node's Kubernetes version, Newest where none is known.
	Minor int
	// Containerd and Runc are the programs that the node runs: the image's own, or those of the packages that are brought in their
	// place; nil for none.
	Containerd, Runc               string
	ContainerdPackage, RuncPackage *resource.Download
	// Schema is how that containerd spells its configuration, Releases are the minor releases that it may be of, Driver is its cgroup
	// driver.
	Schema   CRISchema
	Releases containerdapi.Releases
	Driver   string
	// TakesInstalled says that the contract takes the kubelet that is installed, of whatever version.
	TakesInstalled bool
	// Awaited reports that the agent has yet to fetch the cluster's CA.
	Awaited bool
	// Defaults is what the cluster sets for the kubelets of all its nodes, nil if it was not asked; LacksDefaults says that it is
	// to be asked.
	Defaults      *facts.KubeletDefaults
	LacksDefaults bool
	// Slice is the one that the kubelet and its container runtime are in.
	Slice string
	// Method is how the node joins; the contract's may not be possible on the machine.
	Method nodeconfig.JoinMethod
	// FamilySettings are the family's own defaults in the kubelet's configuration file; nil for none.
	FamilySettings map[string]any
	// ImageProvider is the family's image credential provider; empty for a node that has another one, or none.
	ImageProvider string
	// Client is the program that gets the node its certificate for its machine's attested identity; empty where there is
	// none.
	Client string
	// CoreDNS is the program that is the node's DNS cache; empty if the image has no such program.
	CoreDNS string
	// Certificate is where the kubelet keeps the certificate that it gets for its bootstrap token, or that the client
	// gets for it; empty for none.
	Certificate string
	// Starter is the index of the author's command that starts the kubelet; -1 for none.
	Starter int
	// Agentless says that the node is one without an agent: what is not known of the machine is found out by the machine
	// itself, at each boot.
	Agentless bool
	// AsksCloud says that it is known how such a machine asks its cloud.
	AsksCloud bool
	// Capacity is what the machine can hold, where the contract has that computed; nil where it has not.
	Capacity *machineCapacity
	// Wanted are the variables of what only the machine knows, and the node cannot be made without: each with the setting that
	// wants it.
	Wanted map[string]string
	// Resolver is the file of the DNS servers that the kubelet gives to pods with the host's DNS, where the contract names none; empty
	// for the kubelet's default. ResolverAssumed says that no fact and no unit of the contract decides it: then the distribution does.
	Resolver        string
	ResolverAssumed bool
}

// Instance is what the cloud says of the machine; empty for nothing.
func (in *Input) Instance() facts.Instance { return *cmp.Or(in.Facts.Instance, &facts.Instance{}) }

// Joins reports whether the machine becomes a node, and is not only prepared to.
func (in *Input) Joins() bool { return in.Config.Join.Method != nodeconfig.JoinNone }
