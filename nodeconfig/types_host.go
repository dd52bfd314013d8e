package nodeconfig

// Network configures pod and host networking.
type Network struct {
	// Plugin is the CNI plug-in: "none" (it is installed later, as a pod), "azure", "kubenet".
	Plugin string `json:"plugin,omitempty" words:"none,azure,kubenet"`
	// Policy is the network policy engine: "none", "azure", "calico".
	Policy string `json:"policy,omitempty" words:"none,azure,calico"`
	// IPFamilies are "IPv4" and "IPv6", the primary first; default IPv4.
	IPFamilies []string `json:"ipFamilies,omitempty"`
	// SecondaryInterfaces is the number of further network interfaces to configure.
	SecondaryInterfaces int32 `json:"secondaryInterfaces,omitempty"`
	// Nameservers are used by the host instead of those from DHCP.
	Nameservers []string `json:"nameservers,omitempty"`
	// SearchDomains are appended to the host's DNS search list.
	SearchDomains []string `json:"searchDomains,omitempty"`
	// LocalDNS runs a DNS cache on the node.
	LocalDNS *LocalDNS `json:"localDNS,omitempty"`
	// MetadataRestriction blocks pods from the cloud's metadata service.
	MetadataRestriction *MetadataRestriction `json:"metadataRestriction,omitempty"`
	// HostsAgent keeps the API server's private address in /etc/hosts.
	HostsAgent bool `json:"hostsAgent,omitempty"`
}

// MetadataRestriction blocks pods from the cloud's metadata service by a packet filter rule.
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
	// QueryLogging is "Error" for errors only, or "Log" for every query.
	QueryLogging string `json:"queryLogging,omitempty" words:"Error,Log"`
	// Protocol is "PreferUDP" or "ForceTCP".
	Protocol string `json:"protocol,omitempty" words:"PreferUDP,ForceTCP"`
	// ForwardTo is the upstream: "VnetDNS" or "ClusterCoreDNS".
	ForwardTo string `json:"forwardTo,omitempty" words:"VnetDNS,ClusterCoreDNS"`
	// ForwardPolicy is "Sequential", "RoundRobin" or "Random".
	ForwardPolicy string `json:"forwardPolicy,omitempty" words:"Sequential,RoundRobin,Random"`
	// MaxConcurrent limits the queries that wait for an answer. If it is not set, there is no limit.
	MaxConcurrent *int32 `json:"maxConcurrent,omitempty"`
	// CacheSeconds is how long an answer is kept; default 3600.
	CacheSeconds *int32 `json:"cacheSeconds,omitempty"`
	// StaleSeconds is how long an expired answer may still be given; default 3600.
	StaleSeconds *int32 `json:"staleSeconds,omitempty"`
	// ServeStale is "Verify", "Immediate" or "Disable".
	ServeStale string `json:"serveStale,omitempty" words:"Verify,Immediate,Disable"`
	// ServeStalePolicy is "PreferPositive" if an expired answer is better than a newer refusal. If empty, CoreDNS's own choice.
	ServeStalePolicy string `json:"serveStalePolicy,omitempty" words:"PreferPositive"`
	// FailFast fails a query at once if no upstream is healthy.
	FailFast *bool `json:"failFast,omitempty"`
	// HealthCheck probes the upstream every Interval.
	HealthCheck *LocalDNSHealthCheck `json:"healthCheck,omitempty"`
}

// LocalDNSHealthCheck is the probe of an upstream.
type LocalDNSHealthCheck struct {
	// Interval is the time between two probes.
	Interval Duration `json:"interval,omitempty"`
	// NoRecursion sends the probe without the recursion bit.
	NoRecursion *bool `json:"noRecursion,omitempty"`
	// Domain is the name in the probe.
	Domain string `json:"domain,omitempty"`
}

// System configures the operating system.
type System struct {
	// Sysctls are kernel parameters, by dotted name.
	Sysctls map[string]string `json:"sysctls,omitempty"`
	// Modules are kernel modules to load, now and at boot.
	Modules []string `json:"modules,omitempty"`
	// SwapMB is the size of a swap file, in units of 1000 KiB as AKS counts them. 0 means no swap file.
	SwapMB int32 `json:"swapMB,omitempty"`
	// SwapDisk is the disk of the swap file: "OS" (default), or "PreferTemporary" for the temporary disk of an Azure machine that
	// has one with enough space, else OS. A temporary disk is empty after the machine has moved; the file is created again.
	SwapDisk string `json:"swapDisk,omitempty" words:"OS,PreferTemporary"`
	// TransparentHugePages are the kernel's settings, by file: "enabled", "defrag".
	TransparentHugePages map[string]string `json:"transparentHugePages,omitempty"`
	// LocalStorage configures the instance's own disks.
	LocalStorage *LocalStorage `json:"localStorage,omitempty"`
	// UnattendedUpgrades turns the distribution's own updates on or off. If it is not set, they stay as the image has them.
	UnattendedUpgrades *bool `json:"unattendedUpgrades,omitempty"`
	// Environment is the environment of services, by name without ".service"; "default" is for all of them. A value may be a
	// credential, but systemd shows the values for all services to every user of the machine.
	Environment map[string]map[string]Secret `json:"environment,omitempty"`
	// GPU configures graphics processors.
	GPU *GPU `json:"gpu,omitempty"`
}

// PreferTemporary puts a swap file on the machine's temporary disk if that has enough space.
const PreferTemporary = "PreferTemporary"

// AllServices is the key of the environment for all services.
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

// GPU configures graphics processors. Drivers and services are those of the image: Slipway installs none.
type GPU struct {
	// Vendor is "nvidia" or "amd". Empty means that the node uses no GPU.
	Vendor string `json:"vendor,omitempty" words:"nvidia,amd"`
	// InstallDriver means that the node needs the driver for its size's GPU. If the image has none, no node is made.
	InstallDriver bool `json:"installDriver,omitempty"`
	// DevicePlugin runs the vendor's device plug-in, if the image has it as a service.
	DevicePlugin bool `json:"devicePlugin,omitempty"`
	// Managed runs device plug-in, metrics and health as services of the node. In AKS's layout, an Azure machine with the tag
	// EnableManagedGPUExperience runs them, too.
	Managed bool `json:"managed,omitempty"`
	// DynamicResourceAllocation runs the vendor's DRA driver in place of the device plug-in, with metrics and health.
	DynamicResourceAllocation bool `json:"dynamicResourceAllocation,omitempty"`
	// InstanceProfile partitions each device alike (MIG): "MIG1g", "MIG2g", "MIG3g", "MIG4g" or "MIG7g". If the device needs a
	// reboot for that, the machine reboots once, a minute after its provisioning.
	InstanceProfile string `json:"instanceProfile,omitempty"`
	// Strategy is how Kubernetes sees the partitions: "Mixed" for one resource for each profile; "None" or "Single" for devices of
	// one kind.
	Strategy string `json:"strategy,omitempty" words:"None,Single,Mixed"`
	// ProfileLayout lists the partitions of each device by their profiles, such as "1g.10gb", instead of InstanceProfile.
	ProfileLayout []string `json:"profileLayout,omitempty"`
}

// Trust adds certificate authorities to the system's own.
type Trust struct {
	// Certificates are PEM, or base64 of it, one certificate each.
	Certificates []string `json:"certificates,omitempty"`
}

// Proxy is the HTTP proxy for everything on the node. Its URLs may contain a password; then only containerd, the kubelet and apt
// get them, because all users can read the settings of services and users.
type Proxy struct {
	// HTTP is the proxy for http URLs, "http://HOST:PORT".
	HTTP Secret `json:"http,omitzero"`
	// HTTPS is the proxy for https URLs, "http://HOST:PORT".
	HTTPS Secret `json:"https,omitzero"`
	// NoProxy are hosts, domains and ranges that are reached directly, in addition to the machine itself, the API server and the
	// cloud's metadata service.
	NoProxy []string `json:"noProxy,omitempty"`
	// CertificateAuthority is the proxy's own, PEM or base64 of it.
	CertificateAuthority string `json:"certificateAuthority,omitempty"`
}

// Access configures logins.
type Access struct {
	// AdminUser is the administrator whose password must not expire.
	AdminUser string `json:"adminUser,omitempty"`
	// SSH configures the SSH server.
	SSH SSH `json:"ssh,omitzero"`
	// Realm joins the machine to a directory.
	Realm *Realm `json:"realm,omitempty"`
	// MessageOfTheDay is shown at login.
	MessageOfTheDay string `json:"messageOfTheDay,omitempty"`
}

// SSH configures the SSH server. A field that is not false leaves the image's setting.
type SSH struct {
	// Enabled is false if the server must be stopped and must not start at boot.
	Enabled *bool `json:"enabled,omitempty"`
	// PublicKeyAuthentication is false if the server must accept no public key.
	PublicKeyAuthentication *bool `json:"publicKeyAuthentication,omitempty"`
}

// Realm is a directory the machine joins.
type Realm struct {
	// Domain is the directory's domain.
	Domain string `json:"domain,omitempty"`
	// User is a user who may add machines to it.
	User string `json:"user,omitempty"`
	// Password is the user's.
	Password Secret `json:"password,omitzero"`
}

// Checks limits and verifies the provisioning itself.
type Checks struct {
	// Timeout limits the whole provisioning; default 15m.
	Timeout Duration `json:"timeout,omitempty"`
	// APIServerTimeout limits the wait until the API server is reachable with the node's credential; default 5m.
	APIServerTimeout Duration `json:"apiServerTimeout,omitempty"`
	// ChangeTimeout limits the wait, after a change of a running node, until the node renews its Node's lease with the API server;
	// default 30s. A node that does not renew it is rolled back. A kubelet renews it every ten seconds (Kubernetes:
	// KubeletConfiguration, nodeLeaseDurationSeconds 40, a quarter of it).
	ChangeTimeout Duration `json:"changeTimeout,omitempty"`
	// Outbound are the servers that the node must reach in addition to its API server, in most cases registries: at most 16, each
	// HOST or HOST:PORT, such as "registry.k8s.io". While the kubelet starts, the agent resolves each name, connects, and checks
	// that the machine trusts the server's certificate, through the contract's proxy if that is used for the server. The error
	// names the step that failed.
	Outbound []string `json:"outbound,omitempty"`
	// OutboundCommand is the user's own shell command, at most 16 KiB, run unchanged with the proxy's variables before the node
	// requests its certificate. It must succeed: it is tried 20 times, a second apart, for 15 seconds each. It runs once on a
	// machine. Every reader of a plan can see it: do not put a credential in it.
	OutboundCommand string `json:"outboundCommand,omitempty"`
	// AllowUnapplied are the paths of settings, such as "network.localDNS", that may remain unapplied although a workload may need
	// them, if this version does not apply them. Without it they are errors. In an image's own contract, the paths apply to every
	// contract that the image is provisioned with, in the terms of either.
	AllowUnapplied []string `json:"allowUnapplied,omitempty"`
	// AllowAdditions are the paths at which other programs may add files, such as "/etc/containerd/certs.d/registry.example.com/": at
	// most 32. A path that ends in a slash is a directory with everything in it. The commands "slipway-node status --drift" and
	// "slipway verify" and the watcher do not report what is added there: settings of registries, of containerd, the kubelet, the
	// network and the kernel, static pods. They still report programs, units, drop-ins and masks.
	AllowAdditions []string `json:"allowAdditions,omitempty"`
}

// Components describes what the image must contain, and other sources of these components.
type Components struct {
	// Layout names the table of paths on the node: "standard" (kubeadm's, the default), "eksctl", "eks" (of EKS's images of Amazon
	// Linux 2023), "aks".
	Layout string `json:"layout,omitempty"`
	// OS is the operating system of the image. A machine with another one is refused. If the facts do not name the machine's, the
	// plan is for this one.
	OS *OperatingSystem `json:"os,omitempty"`
	// Preinstalled requires an image that was built for the purpose. If it is not set, the agent does not check.
	Preinstalled *bool `json:"preinstalled,omitempty"`
	// Manifest requires an image whose component manifest, /opt/slipway/components.json, is the expected one. The programs that the
	// kubelet's start depends on must then have the digests in the manifest. The node is refused before its kubelet starts. If it is not
	// set, the manifest's versions and paths are used as they are.
	Manifest *ManifestRequirement `json:"manifest,omitempty"`
	// Registry serves the images and the components of an air-gapped cluster, "HOST[:PORT][/PATH]". It replaces the registry of the
	// layout's own images: mcr.microsoft.com for "aks", registry.k8s.io for "standard". An entry for that one in runtime.registries
	// wins. The sandbox image is pulled from there before the kubelet starts.
	Registry string `json:"registry,omitempty"`
	// Artifacts are the components that may be downloaded, by name: "kubernetes", "containerd", "runc", "cni-plugins", "azure-cni",
	// "credential-provider", "kube-proxy".
	Artifacts map[string]Artifact `json:"artifacts,omitempty"`
	// Features are switches for the image's own programs.
	Features map[string]string `json:"features,omitempty"`
	// ScriptVariables are variables of the provisioning scripts of AKS's images, by name: values that only these scripts read and
	// that no other field sets. They win over values that follow from other fields. A value may be a credential. They change
	// nothing on a node that Slipway makes.
	ScriptVariables map[string]Secret `json:"scriptVariables,omitempty"`
}

// ManifestRequirement is which component manifest an image must have. At least one field is set. If both are, both must be true.
type ManifestRequirement struct {
	// SHA256 is the manifest's digest, 64 hexadecimal digits.
	SHA256 string `json:"sha256,omitempty"`
	// Signers are the keys that may have signed the manifest: at most 16, each a line such as "images@example.com ssh-ed25519 AAAA..."
	// (ssh-keygen(1), "ALLOWED SIGNERS"). The signature is beside the manifest, in components.json.sig, and for the namespace
	// slipway-image.
	Signers []string `json:"signers,omitempty"`
}

// OperatingSystem is an operating system as its os-release names it.
type OperatingSystem struct {
	// ID is the distribution: ID in os-release.
	ID string `json:"id,omitempty"`
	// VersionID is the release: VERSION_ID in os-release. If empty, any release is accepted.
	VersionID string `json:"versionID,omitempty"`
}

// Artifact is a component that may be downloaded.
type Artifact struct {
	// Version is the release, such as "2.2.4".
	Version string `json:"version,omitempty"`
	// URL is the source: an https URL, an http URL together with a digest, or, without a scheme, a reference to an artifact of an
	// OCI registry. It is shown like any other value, as in AKS's contract, so it must contain no password and no signature.
	URL string `json:"url,omitempty"`
	// SHA256 is the hexadecimal digest of the URL's content.
	SHA256 string `json:"sha256,omitempty"`
	// File is a file of the image that is used instead of the URL, if the file exists.
	File string `json:"file,omitempty"`
	// Force downloads it even if the image has the wanted version.
	Force bool `json:"force,omitempty"`
}
