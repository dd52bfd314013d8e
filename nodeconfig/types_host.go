package nodeconfig

// Network configures pod and host networking.
type Network struct {
	// Plugin is who provides the CNI: "none" (it is installed later, as a pod), "azure", "kubenet".
	Plugin string `json:"plugin,omitempty" words:"none,azure,kubenet"`
	// Policy is the network policy engine: "none", "azure", "calico".
	Policy string `json:"policy,omitempty" words:"none,azure,calico"`
	// IPFamilies are "IPv4" and "IPv6", the primary first; default IPv4.
	IPFamilies []string `json:"ipFamilies,omitempty"`
	// SecondaryInterfaces is the number of further network interfaces to configure.
	SecondaryInterfaces int32 `json:"secondaryInterfaces,omitempty"`
	// Nameservers are used by the host instead of those DHCP gives.
	Nameservers []string `json:"nameservers,omitempty"`
	// SearchDomains are appended to the host's DNS search list.
	SearchDomains []string `json:"searchDomains,omitempty"`
	// LocalDNS runs a DNS cache on the node.
	LocalDNS *LocalDNS `json:"localDNS,omitempty"`
	// MetadataRestriction keeps pods from the cloud's metadata service.
	MetadataRestriction *MetadataRestriction `json:"metadataRestriction,omitempty"`
	// HostsAgent keeps the API server's private address in /etc/hosts.
	HostsAgent bool `json:"hostsAgent,omitempty"`
}

// MetadataRestriction keeps pods from the cloud's metadata service by a packet filter rule.
type MetadataRestriction struct {
	// Table is the iptables table of the rule: "filter" (default) or "mangle".
	Table string `json:"table,omitempty" words:"filter,mangle"`
}

// LocalDNS is a DNS cache on the node, for host and pods.
type LocalDNS struct {
	// CPUMilli limits the cache, in thousandths of a core; default 2000.
	CPUMilli *int32 `json:"cpuMilli,omitempty"`
	// MemoryMB limits the cache; default 128.
	MemoryMB *int32 `json:"memoryMB,omitempty"`
	// Host are the server blocks for queries of the host, by domain.
	Host map[string]LocalDNSZone `json:"host,omitempty"`
	// Pods are the server blocks for queries of pods, by domain.
	Pods map[string]LocalDNSZone `json:"pods,omitempty"`
	// Hosts resolves critical names from a file that is refreshed in the background.
	Hosts *LocalDNSHosts `json:"hosts,omitempty"`
}

// LocalDNSHosts are names that must resolve although DNS is down.
type LocalDNSHosts struct {
	// Names are the names.
	Names []string `json:"names,omitempty"`
	// RefreshSeconds is how often they are looked up, at least 5; default 900.
	RefreshSeconds *int32 `json:"refreshSeconds,omitempty"`
}

// LocalDNSZone is how queries below one domain are answered.
type LocalDNSZone struct {
	// QueryLogging is "Error" for errors alone, or "Log" for every query.
	QueryLogging string `json:"queryLogging,omitempty" words:"Error,Log"`
	// Protocol is "PreferUDP" or "ForceTCP".
	Protocol string `json:"protocol,omitempty" words:"PreferUDP,ForceTCP"`
	// ForwardTo is who answers: "VnetDNS" or "ClusterCoreDNS".
	ForwardTo string `json:"forwardTo,omitempty" words:"VnetDNS,ClusterCoreDNS"`
	// ForwardPolicy is "Sequential", "RoundRobin" or "Random".
	ForwardPolicy string `json:"forwardPolicy,omitempty" words:"Sequential,RoundRobin,Random"`
	// MaxConcurrent bounds the queries that wait for an answer; default none.
	MaxConcurrent *int32 `json:"maxConcurrent,omitempty"`
	// CacheSeconds is how long an answer is kept; default 3600.
	CacheSeconds *int32 `json:"cacheSeconds,omitempty"`
	// StaleSeconds is how long an answer that is out of date may still be given; default 3600.
	StaleSeconds *int32 `json:"staleSeconds,omitempty"`
	// ServeStale is "Verify", "Immediate" or "Disable".
	ServeStale string `json:"serveStale,omitempty" words:"Verify,Immediate,Disable"`
	// ServeStalePolicy is "PreferPositive" if an answer that is out of date is better than a newer refusal; CoreDNS's own
	// choice if it is empty.
	ServeStalePolicy string `json:"serveStalePolicy,omitempty" words:"PreferPositive"`
	// FailFast answers with a failure at once when nobody upstream is healthy.
	FailFast *bool `json:"failFast,omitempty"`
	// HealthCheck probes the upstream every Interval.
	HealthCheck *LocalDNSHealthCheck `json:"healthCheck,omitempty"`
}

// LocalDNSHealthCheck is the probe of an upstream.
type LocalDNSHealthCheck struct {
	// Interval is the time between two probes.
	Interval Duration `json:"interval,omitempty"`
	// NoRecursion asks without the recursion bit.
	NoRecursion *bool `json:"noRecursion,omitempty"`
	// Domain is the name that is asked for.
	Domain string `json:"domain,omitempty"`
}

// System configures the operating system.
type System struct {
	// Sysctls are kernel parameters, by dotted name.
	Sysctls map[string]string `json:"sysctls,omitempty"`
	// Modules are kernel modules to load, now and at boot.
	Modules []string `json:"modules,omitempty"`
	// SwapMB is the size of a swap file, in units of 1000 KiB as AKS counts them; 0 for none.
	SwapMB int32 `json:"swapMB,omitempty"`
	// SwapDisk is where the swap file is: "OS" (default), or "PreferTemporary" for the temporary disk of a machine of Azure that
	// has one with room for it, and else OS. A temporary disk is empty after the machine has moved; the file is made again.
	SwapDisk string `json:"swapDisk,omitempty" words:"OS,PreferTemporary"`
	// TransparentHugePages are the kernel's settings, by file: "enabled", "defrag".
	TransparentHugePages map[string]string `json:"transparentHugePages,omitempty"`
	// LocalStorage configures the instance's own disks.
	LocalStorage *LocalStorage `json:"localStorage,omitempty"`
	// UnattendedUpgrades turns the distribution's own updates on or off; nil leaves them alone.
	UnattendedUpgrades *bool `json:"unattendedUpgrades,omitempty"`
	// Environment is given to services, by name without ".service"; "default" is for all of them. A value may be a
	// credential, but what is for all services, systemd shows to every user of the machine.
	Environment map[string]map[string]Secret `json:"environment,omitempty"`
	// GPU configures graphics processors.
	GPU *GPU `json:"gpu,omitempty"`
}

// PreferTemporary is the disk of a swap file that is on the machine's temporary disk where that has room for it.
const PreferTemporary = "PreferTemporary"

// AllServices is the key of an environment that is for all services.
const AllServices = "default"

// LocalStorage configures the instance's own disks.
type LocalStorage struct {
	// Strategy is "RAID0", "RAID10" or "Mount".
	Strategy string `json:"strategy,omitempty"`
	// MountPath is where the disks are mounted.
	MountPath string `json:"mountPath,omitempty"`
	// DisabledMounts are not moved to the disks: "Containerd", "PodLogs", "SOCI".
	DisabledMounts []string `json:"disabledMounts,omitempty"`
}

// GPU configures graphics processors. Drivers and services are those of the image: none is installed.
type GPU struct {
	// Vendor is "nvidia" or "amd"; empty for a node that uses none.
	Vendor string `json:"vendor,omitempty" words:"nvidia,amd"`
	// InstallDriver says that the node needs the driver of its size's kind. An image without one makes no node.
	InstallDriver bool `json:"installDriver,omitempty"`
	// DevicePlugin runs the vendor's device plug-in, where the image has it as a service.
	DevicePlugin bool `json:"devicePlugin,omitempty"`
	// Managed runs device plug-in, metrics and health as services of the node. A machine of Azure's with the tag
	// EnableManagedGPUExperience runs them, too, in AKS's layout.
	Managed bool `json:"managed,omitempty"`
	// DynamicResourceAllocation runs the vendor's DRA driver in place of the device plug-in, with metrics and health.
	DynamicResourceAllocation bool `json:"dynamicResourceAllocation,omitempty"`
	// InstanceProfile partitions each device alike (MIG): "MIG1g", "MIG2g", "MIG3g", "MIG4g" or "MIG7g". Where the device takes
	// a reboot for that, the machine is started again, once, a minute after it was provisioned.
	InstanceProfile string `json:"instanceProfile,omitempty"`
	// Strategy is how partitions are shown to Kubernetes: "Mixed" for a resource of each profile, else as devices of one kind
	// ("None", "Single").
	Strategy string `json:"strategy,omitempty" words:"None,Single,Mixed"`
	// ProfileLayout lists the partitions of each device by their profiles, such as "1g.10gb", in place of InstanceProfile.
	ProfileLayout []string `json:"profileLayout,omitempty"`
}

// Trust adds certificate authorities to the system's own.
type Trust struct {
	// Certificates are PEM, or base64 of it, one certificate each.
	Certificates []string `json:"certificates,omitempty"`
}

// Proxy is the HTTP proxy for everything on the node. Its URLs may hold a password; then only containerd, the kubelet and
// apt get them, because everybody reads what services and users get.
type Proxy struct {
	// HTTP is the proxy for http URLs, "http://HOST:PORT".
	HTTP Secret `json:"http,omitzero"`
	// HTTPS is the proxy for https URLs, "http://HOST:PORT".
	HTTPS Secret `json:"https,omitzero"`
	// NoProxy are hosts, domains and ranges that are reached directly, beside the machine itself, the API server and the
	// cloud's metadata service.
	NoProxy []string `json:"noProxy,omitempty"`
	// CertificateAuthority is the proxy's own, PEM or base64 of it.
	CertificateAuthority string `json:"certificateAuthority,omitempty"`
}

// Access is who may log in, and how.
type Access struct {
	// AdminUser is the administrator whose password must not expire.
	AdminUser string `json:"adminUser,omitempty"`
	// SSH configures the SSH server.
	SSH SSH `json:"ssh,omitzero"`
	// Realm joins the machine to a directory.
	Realm *Realm `json:"realm,omitempty"`
	// MessageOfTheDay greets who logs in.
	MessageOfTheDay string `json:"messageOfTheDay,omitempty"`
}

// SSH configures the SSH server. What is not false is as the image has it.
type SSH struct {
	// Enabled is false where the server is stopped, and does not start at boot.
	Enabled *bool `json:"enabled,omitempty"`
	// PublicKeyAuthentication is false where nobody is let in by a key.
	PublicKeyAuthentication *bool `json:"publicKeyAuthentication,omitempty"`
}

// Realm is a directory the machine joins.
type Realm struct {
	// Domain is the directory's domain.
	Domain string `json:"domain,omitempty"`
	// User may add machines to it.
	User string `json:"user,omitempty"`
	// Password is the user's.
	Password Secret `json:"password,omitzero"`
}

// Checks bounds and verifies the provisioning itself.
type Checks struct {
	// Timeout bounds the whole provisioning; default 15m.
	Timeout Duration `json:"timeout,omitempty"`
	// APIServerTimeout bounds the wait for an API server that can be reached with the node's
	// credential; default 5m.
	APIServerTimeout Duration `json:"apiServerTimeout,omitempty"`
	// ChangeTimeout bounds the wait for a running node, after a change, to renew its Node's lease with
	// the API server; a node that does not is rolled back; default 30s. A kubelet renews it every ten
	// seconds (Kubernetes: KubeletConfiguration, nodeLeaseDurationSeconds 40, a quarter of it).
	ChangeTimeout Duration `json:"changeTimeout,omitempty"`
	// Outbound are the servers that the node must reach beside its API server, in most cases registries: at most 16, each
	// HOST or HOST:PORT, such as "registry.k8s.io". While the kubelet starts, each is looked up, connected to and asked for a
	// certificate that the machine trusts, through the contract's proxy where that leads there. The error says which of
	// these has failed.
	Outbound []string `json:"outbound,omitempty"`
	// OutboundCommand is the user's own shell text, at most 16 KiB, run as such with the proxy's variables before the node
	// asks for its certificate. It must succeed: it is tried 20 times, a second apart, for 15 seconds each. It is run once on a machine. Everybody
	// can read it who reads a plan: do not put a credential in it.
	OutboundCommand string `json:"outboundCommand,omitempty"`
	// AllowUnapplied are the paths of settings, such as "network.localDNS", that may be left out although somebody needs
	// them, where this version does not apply them; without it they are errors. In an image's own contract they are
	// those of every contract that the image is provisioned with, in the terms of either.
	AllowUnapplied []string `json:"allowUnapplied,omitempty"`
}

// Components says what the image is expected to hold, and where else it may come from.
type Components struct {
	// Layout names the table of places on the node: "standard" (kubeadm's, the default), "eksctl", "eks" (of EKS's images of Amazon Linux 2023), "aks".
	Layout string `json:"layout,omitempty"`
	// OS is the operating system of the image. A machine with another one is refused. If no facts name the machine's, the node is
	// planned for this one.
	OS *OperatingSystem `json:"os,omitempty"`
	// Preinstalled requires an image that was built for the purpose; nil means that it is not
	// checked.
	Preinstalled *bool `json:"preinstalled,omitempty"`
	// Registry serves the images and the components of a cluster without a way out, "HOST[:PORT][/PATH]". It stands for the
	// registry of the layout's own images: mcr.microsoft.com for "aks", registry.k8s.io for "standard". Where runtime.registries
	// has an entry for that one, the entry counts. The sandbox image is pulled from there before the kubelet starts.
	Registry string `json:"registry,omitempty"`
	// Artifacts are the components that may be fetched, by name: "kubernetes", "containerd", "runc",
	// "cni-plugins", "azure-cni", "credential-provider", "kube-proxy".
	Artifacts map[string]Artifact `json:"artifacts,omitempty"`
	// Features are switches that the image's own programs read.
	Features map[string]string `json:"features,omitempty"`
	// ScriptVariables are variables of the provisioning scripts of AKS's images, by name: values that these scripts alone
	// read and that nothing else here says. One goes before the value that follows from the rest. A value may be a
	// credential. They change nothing on a node that Slipway makes.
	ScriptVariables map[string]Secret `json:"scriptVariables,omitempty"`
}

// OperatingSystem is an operating system as its os-release names it.
type OperatingSystem struct {
	// ID is the distribution, as ID of os-release names it.
	ID string `json:"id,omitempty"`
	// VersionID is the release, as VERSION_ID of os-release names it. If empty, any release is accepted.
	VersionID string `json:"versionID,omitempty"`
}

// Artifact is a component that may be fetched.
type Artifact struct {
	// Version is the release, such as "2.2.4".
	Version string `json:"version,omitempty"`
	// URL is where it may be fetched: an https URL, an http URL together with a digest, or, without a scheme, a reference to an
	// artifact of an OCI registry. It is shown like any other value, as in AKS's contract, so it must hold no password and no
	// signature.
	URL string `json:"url,omitempty"`
	// SHA256 is the hexadecimal digest of what the URL serves.
	SHA256 string `json:"sha256,omitempty"`
	// File is a file of the image that it is taken from in the place of the URL, if the file is there.
	File string `json:"file,omitempty"`
	// Force has it fetched also where the image has the wanted version.
	Force bool `json:"force,omitempty"`
}
