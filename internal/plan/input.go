package plan

import (
	"cmp"

	"github.com/slipway-dev/slipway/internal/distro"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// input is what a concern decides from. It is computed once, before any of them, and nobody changes it.
type input struct {
	// config has what the machine knows of it: the version of the kubelet that is installed, the CA that was fetched. given is
	// the config as it was given, which the plan is named after: whoever has that config finds the plan.
	config, given *nodeconfig.NodeConfig
	facts         facts.Facts
	// distro is the machine's distribution. like is the ID of ID_LIKE by which it was found; empty if it is in the table itself.
	distro *distro.Distribution
	like   string
	// family is the one that the node is of: where things are, and what differs between families.
	family *profile.Profile
	// minor is that of the node's Kubernetes version, newest where none is known.
	minor int
	// containerd and runc are the programs that the node runs: the image's own, or those of the packages that are brought in their
	// place; nil for none.
	containerd, runc               string
	containerdPackage, runcPackage *resource.Download
	// schema is how that containerd spells its configuration, driver its cgroup driver.
	schema criSchema
	driver string
	// takesInstalled says that the contract takes the kubelet that is installed, of whatever version.
	takesInstalled bool
	// awaited reports that the agent has yet to fetch the cluster's CA.
	awaited bool
	// defaults is what the cluster sets for the kubelets of all its nodes, nil if it was not asked; lacksDefaults says that it is
	// to be asked.
	defaults      *facts.KubeletDefaults
	lacksDefaults bool
	// slice is the one that the kubelet and its container runtime are in.
	slice string
	// method is how the node joins; the contract's may not be possible on the machine.
	method nodeconfig.JoinMethod
	// client is the program that gets the node its certificate for its machine's attested identity; empty where there is
	// none.
	client string
	// coreDNS is the program that is the node's DNS cache; empty where there is none.
	coreDNS string
	// certificate is where the kubelet keeps the certificate that it gets for its bootstrap token, or that the client
	// gets for it; empty for none.
	certificate string
	// starter is the index of the author's command that starts the kubelet; -1 for none.
	starter int
	// agentless says that the node is one without an agent: what is not known of the machine is found out by the machine
	// itself, at each boot.
	agentless bool
	// asksCloud says that it is known how such a machine asks its cloud.
	asksCloud bool
	// capacity is what the machine can hold, where the contract has that computed; nil where it has not.
	capacity *machineCapacity
	// wanted are the variables of what only the machine knows, and the node cannot be made without: each with the setting that
	// wants it.
	wanted map[string]string
	// resolver is the file of the DNS servers that the kubelet gives to pods with the host's DNS, where the contract names none; empty
	// for the kubelet's default. resolverAssumed says that no fact and no unit of the contract decides it: then the distribution does.
	resolver        string
	resolverAssumed bool
}

// instance is what the cloud says of the machine; empty for nothing.
func (in *input) instance() facts.Instance { return *cmp.Or(in.facts.Instance, &facts.Instance{}) }

// joins reports whether the machine becomes a node, and is not only prepared to.
func (in *input) joins() bool { return in.config.Join.Method != nodeconfig.JoinNone }
