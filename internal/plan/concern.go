package plan

import (
	"cmp"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/distro"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// concern is one subject of a node: what is written, where, when and why. It knows no other concern, so their order
// does not matter.
type concern struct {
	name string
	// joins says that only a node that joins a cluster has it.
	joins bool
	// reads are the contract's settings that it applies; a path stands for all that is below it, and "*" for each key
	// of a map. A setting that no concern reads is not applied, and is warned of where it is set.
	reads []string
	// declines are settings that it does not apply and reports itself: a value may ask for what the node has anyway, or
	// for what no node can be without.
	declines []string
	plan     func(in *input, out *output)
}

// concerns are all there are.
var concerns = []*concern{
	&access,
	&apiServer,
	&attested,
	&attestedClient,
	&authority,
	&azure,
	&capacities,
	&certificate,
	&cgroups,
	&cni,
	&cniPlugins,
	&commands,
	&containerd,
	&credentials,
	&customCloud,
	&dhcpDomains,
	&distribution,
	&environment,
	&features,
	&files,
	&freeName,
	&gpu,
	&hostname,
	&hugePages,
	&image,
	&imageCredentialProvider,
	&imageUnits,
	&installed,
	&ipv6Probes,
	&isolated,
	&kubeadmFiles,
	&kubeletBinary,
	&kubeletCommandLine,
	&kubeletConfig,
	&kubeletData,
	&kubeletNetwork,
	&kubeletPrepare,
	&kubeletStart,
	&localDNS,
	&machineFacts,
	&messageOfTheDay,
	&metadataRestriction,
	&modules,
	&nameResolution,
	&outbound,
	&passwords,
	&privateServer,
	&providerBinary,
	&proxy,
	&realm,
	&registries,
	&reserved,
	&resolver,
	&rings,
	&runtimePackages,
	&secondaryInterfaces,
	&services,
	&servingCertificate,
	&shutdown,
	&streaming,
	&supported,
	&swap,
	&sysctls,
	&trust,
	&units,
	&updates,
}

// readByAll are the settings that decide for every concern: they are in the input itself.
var readByAll = []string{"$.cluster.kubernetesVersion", "$.components.layout", "$.join.method"}

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
	// asking plans that. service is what the machine asks; nil where that is not known. Both are only of a node without an
	// agent, so that an agent, which never plans one, does not hold them.
	asking  func(in *input, out *output, referred []string)
	service *metadataService
	// capacity is what the machine can hold, where the contract has that computed; nil where it has not.
	capacity *machineCapacity
	// wanted are the variables of what only the machine knows, and the node cannot be made without: each with the setting that
	// wants it.
	wanted map[string]string
	// credentialConfig is where the image credential provider's configuration is; empty for none. misplaced says why
	// that is not where the contract wants it.
	credentialConfig, misplaced string
	// resolver is the file of the DNS servers that the kubelet gives to pods with the host's DNS, where the contract names none; empty
	// for the kubelet's default. resolverAssumed says that no fact and no unit of the contract decides it: then the distribution does.
	resolver        string
	resolverAssumed bool
	// flags are the contract's flags of the kubelet that are not Slipway's to give, flagProblems what there is to say of the others.
	flags        []argument
	flagProblems []nodeconfig.Problem
}

func newInput(c *nodeconfig.NodeConfig, f facts.Facts, agentless ...func(*input)) *input {
	given := c
	takesInstalled := c.Cluster.KubernetesVersion == nodeconfig.InstalledVersion
	if takesInstalled {
		planned := *c
		planned.Cluster.KubernetesVersion = KubernetesVersion(c, f)
		c = &planned
	}
	c, awaited := withAuthority(c, f)
	in := &input{
		takesInstalled: takesInstalled,
		awaited:        awaited,
		config:         c,
		given:          given,
		facts:          f,
		family:         profile.Of(c.Components.Layout),
		minor:          minorOf(c.Cluster.KubernetesVersion),
		starter:        starterOf(c),
	}
	for _, set := range agentless {
		set(in)
	}
	in.distro, in.like = distro.Of(f.OS)
	in.defaults, in.lacksDefaults = knownDefaults(in)
	paths, usual := &in.family.Paths, &in.distro.Programs
	in.containerd = in.programPlace(containerdName, paths.Containerd, usual.Containerd)
	in.containerd, in.containerdPackage = in.runtimeProgram(containerdName, in.containerd, containerdFiles, exitcode.ContainerdInstallFailed)
	in.runc = in.programPlace(runcName, paths.Runc, usual.Runc)
	in.runc, in.runcPackage = in.runtimeProgram(runcName, in.runc, runcFiles, exitcode.RuncInstallFailed)
	in.schema = criSchemas[in.containerdMajor()]
	in.driver = runtimeDriver(c, in.schema)
	if in.slice, _ = forKubernetes.slice(in); in.slice == "" {
		in.slice = systemSlice
	}
	in.client = clientOf(c, f, in.family.Attested.Client)
	in.coreDNS = programOf(f, in.family.LocalDNS.Program)
	in.method = joinMethod(c, in.client)
	if in.method == nodeconfig.JoinBootstrapToken || in.method == nodeconfig.JoinAttested {
		in.certificate = retiringCertificate(c.Kubelet)
	}
	in.capacity = newCapacity(in)
	in.wanted = wantedFacts(in)
	in.credentialConfig, in.misplaced = credentialConfig(c.Kubelet, &in.family.Paths)
	in.flags, in.flagProblems = contractFlags(in)
	in.resolver, in.resolverAssumed = podResolver(in)
	return in
}

// instance is what the cloud says of the machine; empty for nothing.
func (in *input) instance() facts.Instance { return *cmp.Or(in.facts.Instance, &facts.Instance{}) }

// joins reports whether the machine becomes a node, and is not only prepared to.
func (in *input) joins() bool { return in.config.Join.Method != nodeconfig.JoinNone }
