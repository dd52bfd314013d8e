// Package profile is the table of node families: it holds, as data, how a node with kubeadm's paths and one with AKS's
// paths differ. A family is one value in one file: paths, names, decisions, where results are published, and how the agent is
// found and started.
//
// The planner, validation, the agent, user data and the tables of paths read it. It decides nothing about a single
// node, reads no contract and touches no machine. A new family is a new file, and its name in families.
package profile

import (
	"path"
	"slices"
)

// The units that every family has.
const (
	// KubeletUnit is the unit that makes a machine a node.
	KubeletUnit = "kubelet.service"
	// ContainerdUnit is the unit of the container runtime.
	ContainerdUnit = "containerd.service"
	// AgentUnit is the unit of Slipway's own images that provisions. It becomes ready when the agent knows that the disk, and
	// a kubelet's files on it, belong to this machine.
	AgentUnit = "slipway-provision.service"
)

// Profile is a family of nodes. It is constant data: code must not change it.
type Profile struct {
	// Name is what a contract calls the family (components.layout).
	Name string
	// Cloud is the provider of the cloud that all nodes of the family are in (cloud.provider).
	Cloud       string
	Paths       Paths
	Kubelet     Kubelet
	Command     Command
	Attested    Attested
	LocalDNS    LocalDNS
	GPU         GPU
	Runtime     Runtime
	Host        Host
	Components  Components
	Sources     Sources
	Publication Publication
	Contract    Contract
	Agent       Agent
	// Empty is the reason why a cell is empty, by the cell's name, for example "Kubelet.NodeIP". A group of cells may have one
	// reason: "Publication.Events". Every empty cell has a reason.
	Empty map[string]string
}

// Paths are where things are on a node.
type Paths struct {
	// Installed is a file that an image holds that was built for the purpose.
	Installed string

	Containerd       string // binary
	Runc             string // binary
	Kubelet          string // binary
	VolumePlugins    string
	Manifests        string // static pods
	KubeletEnv       string // environment file
	KubeletConfig    string // configuration file
	KubeletDropIn    string // what the contract sets of the configuration, in another directory, which the kubelet merges over it
	KubeletTemporary string // directory of a temporary disk that the kubelet's data may be in
	Kubeconfig       string
	BootstrapConfig  string
	CA               string
	CAMode           uint32
	ServerCert       string
	ClientCert       string
	ClientKey        string
	CloudConfig      string // azure.json
	CustomCloud      string // environment of a custom cloud
	CredentialConfig string // image credential provider
	Sysctls          string
	Forwarding       string // sysctls that container networking needs
	Features         string // switches that the image's own programs read
}

// Files are the paths of the node's files, except the image credential provider's configuration, whose path a
// contract may set.
func (p *Paths) Files() []string {
	files := []string{
		p.KubeletEnv, p.KubeletConfig, p.Kubeconfig, p.BootstrapConfig, p.CA, p.ServerCert, p.ClientCert, p.ClientKey,
		p.CloudConfig, p.CustomCloud, p.Sysctls, p.Forwarding, p.Features,
	}
	if p.KubeletDropIn != "" {
		files = append(files, p.KubeletDropIn)
	}
	return files
}

// Directories are those that the kubelet expects.
func (p *Paths) Directories() []string {
	return []string{"/var/lib/kubelet", path.Dir(p.CA), p.Manifests, p.VolumePlugins}
}

// Kubelet is how the kubelet is configured and started.
type Kubelet struct {
	// Environment are the variables of its environment file, in the order in which they are written.
	Environment []Variable
	// Kubeconfig, Config, Runtime, RuntimeKind and CgroupDriver are drop-ins of the kubelet's unit, each with a part of its
	// command line: its credential, its configuration file, its container runtime, the flag that the runtime is not Docker
	// (until Kubernetes 1.26), and its cgroup driver if no configuration file has it.
	Kubeconfig, Config, Runtime, RuntimeKind, CgroupDriver Arguments
	// Watchdog is the drop-in that has systemd restart it when it hangs.
	Watchdog DropIn
	// Prepare is the unit that precedes it, once in a boot.
	Prepare string
	// ConfigDefaults means that the kubelet always has a configuration file, with Slipway's defaults. Otherwise it has one
	// only if the contract sets fields of it, with these alone, and the rest are flags.
	ConfigDefaults bool
	// ClusterDefaults means that the node uses the settings that a kubeadm cluster has for the kubelets of all its nodes, if the
	// contract has a kubeadm cluster.
	ClusterDefaults bool
	// Settings, if not nil, returns the family's own defaults in the configuration file, over Slipway's, for a minor version of
	// Kubernetes. A setting in them is not also given as a flag.
	Settings func(minor int) map[string]any
	// Capacity is the rule for what the machine can hold (kubelet.capacity.rule), if the contract names none. OtherPods is the number
	// of pods of a machine whose type the rule's table does not have.
	Capacity  string
	OtherPods int
	// KeepsBootstrap means that the bootstrap credential stays on the node after the node has joined. A kubelet whose
	// certificate has expired, because the machine was off for long, joins with it again. Families set this if their nodes may
	// boot without an agent that could fetch the credential again.
	KeepsBootstrap bool
	// NodeIP means that the kubelet gets the node's address in a flag if its version needs it.
	NodeIP bool
	// ServiceFamily means that the node's address is of the same IP family as the cluster's service range.
	ServiceFamily bool
	// SelfSigned are the certificate and key that the family's own scripts make before the kubelet starts. Slipway makes
	// none: a kubelet without these flags makes its certificate itself, so Slipway gives no such flags.
	SelfSigned Pair
	// ServingLabels are given to a node whose kubelet asks the cluster for its serving certificate.
	ServingLabels map[string]string
	// ImageProvider gets it the credentials for images of the family's cloud, where the contract names no other provider.
	ImageProvider ImageProvider
	// Entries are the names within the kubelet's kubeconfig. Only a reader of the file sees them.
	Entries Entries
}

// Variable is one of the kubelet's environment.
type Variable struct {
	Name  string
	Holds Content
	// Value is the content if Holds is Fixed.
	Value string
}

// Content is what a variable holds.
type Content int

// The contents.
const (
	// Fixed is the same on each node.
	Fixed Content = iota
	// Flags are the kubelet's flags.
	Flags
	// Labels are the node's labels.
	Labels
	// NetworkPolicy is the name of the engine of network policies.
	NetworkPolicy
	// CustomCloud is the path of a custom cloud's environment; the variable is not there without one.
	CustomCloud
	// Taints are the node's taints.
	Taints
	// MaxPods is the number of pods that the contract sets; the variable is not there without one.
	MaxPods
	// DropIns is "on" for a kubelet that merges the drop-ins of its configuration only with this variable. Others do not get it.
	DropIns
	// Region, ClusterName and Server are of the cluster.
	Region
	ClusterName
	Server
	// RegistryAccount and RegistryDomain are those of the region's registry of system images.
	RegistryAccount
	RegistryDomain
)

// Variable returns the name of the variable that holds the content. Empty means that no variable does.
func (k *Kubelet) Variable(holds Content) string {
	if i := slices.IndexFunc(k.Environment, func(v Variable) bool { return v.Holds == holds }); i >= 0 {
		return k.Environment[i].Name
	}
	return ""
}

// DropIn is a drop-in of a unit.
type DropIn struct {
	// File is its name in the unit's directory, and Mode is its permissions.
	File string
	Mode uint32
	// Source is the origin in the family's own terms, for the reader of a plan.
	Source string
}

// Arguments are a drop-in that sets a variable of the kubelet's command line.
type Arguments struct {
	DropIn
	Variable string
}

// Pair is a certificate and its key.
type Pair struct{ Certificate, Key string }

// Entries are the names within a kubeconfig. BootstrapContext is in the kubeconfig that the kubelet joins with.
type Entries struct{ Cluster, Context, BootstrapContext string }

// NodeEnvironment is an environment file for systemd with facts that only the machine knows. It does not survive a boot, so
// a disk never starts with the facts of another machine or of another boot.
const NodeEnvironment = "/run/slipway/node.env"

// Command is how a kubelet is started whose command line is in one drop-in, with variables from several environment files.
type Command struct {
	// DropIn has the command line.
	DropIn DropIn
	// Metadata is the environment file with facts of the cluster, and Variables are its variables.
	Metadata  string
	Variables []Variable
	// Helper is a script with variables, which the commands of a contract's author source.
	Helper string
	// Local is a link to [NodeEnvironment].
	Local string
	// MaxPods is a table of instance types and numbers of pods, one to a line.
	MaxPods string
	// Flags are given to each kubelet whose version has them.
	Flags []Flag
	// Unflagged are flags that Slipway gives in other families, and that this family leaves to the kubelet's own default.
	Unflagged []string
	// SandboxImage is the image of pods' sandboxes, within the region's registry of system images, if the machine's image does not hold one.
	SandboxImage string
	// Snap is how the kubelet is started on distributions that have it as a snap.
	Snap Snap
}

// Flag is a flag of the kubelet's, without its dashes.
type Flag struct {
	Name, Value string
	// Since and Until are the first and last minor version of Kubernetes that get it; 0 means no limit.
	Since, Until int
}

// GivenTo reports whether a kubelet of a minor version gets the flag.
func (f Flag) GivenTo(minor int) bool { return f.Since <= minor && (f.Until == 0 || minor <= f.Until) }

// Snap is a kubelet that is a snap, on distributions that have snaps. Its flags are the snap's settings.
type Snap struct {
	// Name is the snap's, Program the kubelet's in it.
	Name, Program string
	// Script sets what differs, and starts the snap. DropIn, of the kubelet's unit, runs it.
	Script string
	DropIn DropIn
}

// Attested is the program that gets a node its certificate for its machine's attested identity.
type Attested struct {
	// Client is the program.
	Client string
	// Unit runs it, once, before the kubelet starts. DropIn is its drop-in, with the file that has its flags.
	Unit   string
	DropIn DropIn
	// Environment is the file with its variables: Flags are those that the contract decides, CustomCloud is the path of
	// a custom cloud's environment.
	Environment, Flags, CustomCloud string
	// Protocol is what it asks the API server for (ALPN), Resource the audience of its access token where the contract
	// names none.
	Protocol, Resource string
	// Log is the path of its log file, in addition to the journal.
	Log string
}

// LocalDNS is the node's own DNS cache.
type LocalDNS struct {
	// Program is CoreDNS, Corefile where its configuration is written.
	Program, Corefile string
	// ExporterPort is the port of the image's exporter, and ExporterLabels are the labels of a node that has one.
	ExporterPort   int
	ExporterLabels map[string]string
	// Source is where it is from, in the family's own terms.
	Source string
}

// GPU holds the labels, files and tags of nodes that run services for graphics processors.
type GPU struct {
	// Labels are the node's, Marker is an empty file.
	Labels map[string]string
	Marker string
	// Present are the labels of a node that has a device of NVIDIA's, from the minor version PresentSince of Kubernetes on.
	Present      map[string]string
	PresentSince int
	// Tagged means that tags of the machine can request these services and refuse a driver, and that services without a
	// request are stopped.
	Tagged bool
	// Prebaked means that the family's images may hold a driver for another node's devices.
	Prebaked bool
}

// Runtime is how containerd is configured.
type Runtime struct {
	// Names are those by which pods may ask for runc; the first is the default.
	Names []string
	// CgroupDriver is containerd's and the kubelet's where the contract names none.
	CgroupDriver string
	// CDI turns on the Container Device Interface in a containerd that has it off by default.
	CDI bool
	// Registry has the images that every node of the family needs. The registry of a cluster without a way out stands for it.
	Registry string
	// Moved is a registry that has another server name in one of the family's clouds.
	Moved MovedRegistry
	// NVIDIA replaces the first of Names on a node with NVIDIA's devices. With NVIDIAInstalled, it does so on every node whose
	// image has NVIDIA's runtime.
	NVIDIA          string
	NVIDIAInstalled bool
	// SandboxImage is the image of pods' sandboxes that the family's images hold, in containerd's own store. No registry has it.
	SandboxImage string
	// RegistryDirs are directories with settings of registries, after containerd's usual one.
	RegistryDirs []string
	// DiscardLayers means that containerd does not keep the layers of an image after it has unpacked them.
	DiscardLayers bool
	// OpenFiles limits the open files of containers.
	OpenFiles Limit
	// Mirror means that containers may start before their image has arrived, and read it through a mirror on the machine.
	Mirror bool
	// Slice is the slice of the kubelet and containerd, unless the contract reserves another one for them. Empty means the slice of
	// the system's services.
	Slice string
	// Reserved are the control groups for which a node reserves resources, for programs outside pods.
	Reserved Reserved
	// Forward is the drop-in that has the host forward pods' packets, Limits the one with the contract's limits.
	Forward, Limits DropIn
}

// Limit is a soft and a hard limit of a process (setrlimit(2)).
type Limit struct{ Soft, Hard int }

// MovedRegistry is a registry whose server differs from the registry's name.
type MovedRegistry struct {
	// Environment is the cloud, Registry the registry's name in image names, and Server its address.
	Environment, Registry, Server string
}

// Reserved are the slices that the kubelet's reserved control groups may be.
type Reserved struct {
	// Kubernetes is for the kubelet and its container runtime, System for the system's own services. An empty one may be
	// any slice that the contract names.
	Kubernetes, System string
	// DropIn is the drop-in of the kubelet's unit and of containerd's that puts them into their slice.
	DropIn
}

// ResolvedList decides when the kubelet gives the list of systemd-resolved to pods with the host's DNS, if that service runs and
// the contract names no other file.
type ResolvedList int

const (
	// NoList leaves it to the kubelet.
	NoList ResolvedList = iota
	// ListOverStub is on distributions whose /etc/resolv.conf names the service's stub.
	ListOverStub
	// AlwaysList is everywhere.
	AlwaysList
)

// Host is what is done to the operating system.
type Host struct {
	// ResolverLink makes /etc/resolv.conf systemd-resolved's own list where it names a stub on the host's loopback, which pods
	// cannot reach.
	ResolverLink bool
	// ResolvedList decides when pods get that list.
	ResolvedList ResolvedList
	// CNIPackages means that the images hold packages of network plug-ins, and a node installs those that its network needs.
	// Otherwise the image or the network's own pods bring the plug-ins.
	CNIPackages bool
	// DeniedModules are kernel modules that a node does not need. A node does not load them if its kernel is vulnerable
	// through them.
	DeniedModules []string
	// UpdatesAtJoin means that a machine updates itself when it joins a cluster, not while an image is baked.
	UpdatesAtJoin bool
	// CloudAuthorities means that a node trusts the certificate authorities that its cloud names.
	CloudAuthorities bool
	// Units are units of the family's images that a node runs where its image has them, though no contract asks for them.
	Units []ImageUnit
	// Bootstrappers are services of the family's images that make the machine a node. Slipway replaces them.
	Bootstrappers []string
	// Isolated are empty files that state that no check for internet access ran, on a node of a cluster that has none.
	Isolated []string
	// ForeignInterfaces means that the host's network services ignore interfaces that a network plug-in adds.
	ForeignInterfaces bool
	// DHCPDomains means that short names are resolved in the domain that DHCP names, also if the distribution's
	// systemd-networkd does not do that by default.
	DHCPDomains bool
	// Rings are the receive rings of network interfaces that are made larger.
	Rings Rings
	// Probes are the load balancer's health probes over IPv6.
	Probes Probes
	// Environment is the name of the drop-ins that give services the contract's variables.
	Environment string
	// MetadataComment is the comment of the packet filter rule that keeps pods from the cloud's metadata service.
	MetadataComment string
}

// Components are the paths of a family's components, apart from those of its images.
type Components struct {
	// RegistryPackages and RegistryArchives are the paths of Kubernetes' programs in the registry of a cluster without internet
	// access: RegistryPackages has each as a package, and RegistryArchives has all of them in one archive.
	RegistryPackages, RegistryArchives string
	// Provider is what the package of the image credential provider, and the program in it, is called.
	Provider string
}

// ImageUnit is a timer or a service of the family's images.
type ImageUnit struct {
	Unit string
	// Plugin is the network plug-in of the nodes that run it. Empty means all nodes.
	Plugin string
	// ExitCode is the provisioning's exit code if the unit does not start; 0 if the provisioning does not wait for the unit.
	ExitCode int
}

// Rings selects the network interfaces that get larger receive rings.
type Rings struct {
	// Slot is a pattern of udev for the name of an interface by its slot.
	Slot string
	// Default is the size that is changed, Receive the new one, in packets. CPUs are the processors of the smallest machine
	// for which it is done.
	Default, Receive, CPUs int
}

// Probes is the source address of health probes over IPv6 that the kernel would not forward, and the address that replaces it.
type Probes struct {
	// Unit is the image's unit for this task. Table is the name of the packet filter's table if Slipway does it.
	Unit, Table string
	// Interface receives them, From an address and As another one.
	Interface, From, As string
}

// Sources are the origins of planned files in the family's own terms, for the reader of a plan.
type Sources struct {
	Installed, Features, Resolver, Registry, Kubenet, AzureCNI, SSH, PublicKeys, Metadata, CloudAuthorities, Message, PrivateServer, SearchDomains, Updates, DeniedModules, Passwords, Realm, SecondaryInterfaces, Units, GPU string
}

// Publication describes how and where the result of a provisioning is published.
type Publication struct {
	// Result is the CSEStatus document.
	Result string
	// Complete marks that a provisioning has ended, well or not; it appears after the result. BaseComplete takes its
	// place where only an image was prepared.
	Complete, BaseComplete string
	// Log is the agent's log.
	Log string
	// Events is where events go that others collect.
	Events Events
	// ExitCode maps one of Slipway's exit codes to the code that the family's consumers know. If nil, the code stays. Call
	// Code instead.
	ExitCode func(code int) int
}

// Code is an exit code as the family's consumers know it.
func (p *Publication) Code(code int) int {
	if p.ExitCode == nil {
		return code
	}
	return p.ExitCode(code)
}

// Events is where a guest agent collects events, and how their tasks begin.
type Events struct{ Dir, Task string }

// Contract is the family's own contract.
type Contract struct {
	// Dialects are those whose contracts are sent to this family. The default has all others.
	Dialects []string
	// YAML and JSON are its own places on the disk, by its form.
	YAML, JSON string
}

// Paths are its places, in the order in which they are looked at.
func (c *Contract) Paths() []string {
	return slices.DeleteFunc([]string{c.YAML, c.JSON}, func(place string) bool { return place == "" })
}

// ContractPaths are the contracts' paths of every family.
func ContractPaths() (all []string) {
	for _, family := range All() {
		all = append(all, family.Contract.Paths()...)
	}
	return all
}

// Place is where a contract of the family belongs.
func (c *Contract) Place(document []byte) string {
	if c.YAML == "" || len(document) > 0 && document[0] == '{' {
		return c.JSON
	}
	return c.YAML
}

// Agent is how the agent is found and started on an image of the family's.
type Agent struct {
	// Root is the directory of the family's programs and contract.
	Root string
	// Program is the agent's path, and Called the name that it is called by.
	Program, Called string
	// Unit provisions.
	Unit string
	// Launcher is a program that starts the agent earlier than a unit can. Output is the file for its output, and Logs is the
	// directory of that file and of other logs of the family's programs.
	Launcher, Output, Logs string
	// Preload is a script of images that reads programs and containerd's metadata into memory while the machine boots.
	Preload string
	// Scripts is the first of the scripts that images have which make a node without an agent.
	Scripts string
}
