package launch

// Machine is what Slipway requests from the cloud.
type Machine struct {
	// Type is the instance type, and what is known of it.
	Type InstanceType `json:"type,omitzero"`
	// Zone is the availability zone; empty for a machine in none.
	Zone string `json:"zone,omitempty"`
	// CapacityType is "on-demand" or "spot".
	CapacityType string `json:"capacityType,omitempty"`
	// MaxPods is the number of pods that a source sets. If nil, it follows from the network.
	MaxPods *int32 `json:"maxPods,omitempty"`
	// Image is what the machine boots.
	Image Image `json:"image,omitzero"`
	// Disk is the machine's own disk.
	Disk Disk `json:"disk,omitzero"`
	// Network is where the machine is attached.
	Network Network `json:"network,omitzero"`
	// Security protects the machine.
	Security Security `json:"security,omitzero"`
	// AdminUser may log in with SSHPublicKey.
	AdminUser string `json:"adminUser,omitempty"`
	// SSHPublicKey is in the form of authorized_keys.
	SSHPublicKey PublicKey `json:"sshPublicKey,omitempty"`
	// UserData is what the machine gets beside its contract.
	UserData UserParts `json:"userData,omitempty"`
	// Identities are assigned to the machine, each by its ID in the cloud.
	Identities []string `json:"identities,omitempty"`
	// GPUDriver is "Driver" if the cloud's driver is wanted, or "None".
	GPUDriver string `json:"gpuDriver,omitempty"`
	// GPUDriverVersion is the version to install, with its kind: "cuda-lts 580.159.04-20260629214430".
	GPUDriverVersion string `json:"gpuDriverVersion,omitempty"`
	// UltraSSD lets disks of the cloud's fastest kind be attached.
	UltraSSD *bool `json:"ultraSSD,omitempty"`
	// Streaming starts containers before their image has arrived, where the machine can.
	Streaming *bool `json:"streaming,omitempty"`
	// DriftOnRelease names the choices of a Slipway release that [Compare] does not ignore ("sandboxImage", "gpuDriver").
	DriftOnRelease []string `json:"driftOnRelease,omitempty"`
	// MemoryOverhead is the part of the memory that the hypervisor keeps.
	MemoryOverhead float64 `json:"memoryOverhead,omitempty"`
	// Capacity and Allocatable are the capacity reported to a scheduler before the node exists, in Kubernetes' quantities.
	Capacity    map[string]string `json:"capacity,omitempty"`
	Allocatable map[string]string `json:"allocatable,omitempty"`
	// Tags are the cloud's.
	Tags map[string]string `json:"tags,omitempty"`
}

// InstanceType describes an instance type. Zero or nil means unknown; the package then assumes nothing.
type InstanceType struct {
	// Name is the cloud's: "Standard_D4s_v5".
	Name string `json:"name,omitempty"`
	// Family is the cloud's name for the types that share a quota: "standardDDSv5Family".
	Family string `json:"family,omitempty"`
	// VCPUs are its virtual processors, MemoryBytes its memory.
	VCPUs       int   `json:"vcpus,omitempty"`
	MemoryBytes int64 `json:"memoryBytes,omitempty"`
	// Architecture is Kubernetes': "amd64", "arm64".
	Architecture string `json:"architecture,omitempty"`
	// Generations are those of the hypervisor that it boots on: "1", "2".
	Generations []string `json:"generations,omitempty"`
	// Zones are those that have it.
	Zones []string `json:"zones,omitempty"`
	// GPUs is the number of graphics processors; nil means unknown.
	GPUs *int `json:"gpus,omitempty"`
	// GPUManufacturer is their manufacturer, in small letters: "nvidia", "amd". GPUName is their kind: "A100".
	GPUManufacturer string `json:"gpuManufacturer,omitempty"`
	GPUName         string `json:"gpuName,omitempty"`
	// CacheDiskBytes, ResourceDiskBytes and NVMeDiskBytes are the sizes of disks that the machine's own disk could be on.
	CacheDiskBytes    int64 `json:"cacheDiskBytes,omitempty"`
	ResourceDiskBytes int64 `json:"resourceDiskBytes,omitempty"`
	NVMeDiskBytes     int64 `json:"nvmeDiskBytes,omitempty"`
	// Placements are where the cloud puts such a disk: "NvmeDisk", "CacheDisk", "ResourceDisk".
	Placements []string `json:"placements,omitempty"`
	// Interfaces is how many network interfaces it can have, Addresses how many addresses each of them can have.
	Interfaces int `json:"interfaces,omitempty"`
	Addresses  int `json:"addresses,omitempty"`
	// EphemeralDisk, PremiumStorage, AcceleratedNetworking, TrustedLaunch and EncryptionAtHost are what it can do.
	EphemeralDisk         *bool `json:"ephemeralDisk,omitempty"`
	PremiumStorage        *bool `json:"premiumStorage,omitempty"`
	AcceleratedNetworking *bool `json:"acceleratedNetworking,omitempty"`
	TrustedLaunch         *bool `json:"trustedLaunch,omitempty"`
	EncryptionAtHost      *bool `json:"encryptionAtHost,omitempty"`
	// Spot reports whether it can be a spot machine; nil if that is not known.
	Spot *bool `json:"spot,omitempty"`
	// UltraSSDZones are the zones in which it can have disks of the cloud's fastest kind, with [Cloud].Regional for a machine in no zone;
	// nil if that is not known.
	UltraSSDZones []string `json:"ultraSSDZones,omitempty"`
	// Confidential is how it keeps its memory from the host, by the cloud's name for it: "SNP", "TDX", "SGX".
	Confidential string `json:"confidential,omitempty"`
	// Unavailable is why the cloud does not launch it, in the cloud's words. Empty means that it does.
	Unavailable string `json:"unavailable,omitempty"`
}

// Image is what a machine boots.
type Image struct {
	// Wanted is the image family that a source sets, Family the one that the cloud's rules choose for it.
	Wanted string `json:"wanted,omitempty"`
	Family string `json:"family,omitempty"`
	// FIPS wants validated cryptography.
	FIPS *bool `json:"fips,omitempty"`
	// ID is the image, with its version. Definition and Version are in it.
	ID         string `json:"id,omitempty"`
	Definition string `json:"definition,omitempty"`
	Version    string `json:"version,omitempty"`
	// Distribution is what AKS calls the image.
	Distribution string `json:"distribution,omitempty"`
}

// Disk is a machine's own disk.
type Disk struct {
	// SizeGB is its size in GiB; the cloud calls them GB.
	SizeGB int32 `json:"sizeGB,omitempty"`
	// Ephemeral reports whether the disk is on the host, at Placement.
	Ephemeral *bool  `json:"ephemeral,omitempty"`
	Placement string `json:"placement,omitempty"`
	// EncryptionSet encrypts it, by its ID in the cloud.
	EncryptionSet string `json:"encryptionSet,omitempty"`
}

// Network is where a machine is attached.
type Network struct {
	// Subnet is its ID in the cloud.
	Subnet string `json:"subnet,omitempty"`
	// Plugin, Mode, Policy and Dataplane are the cluster's network: which program gives pods their addresses, and how.
	Plugin    string `json:"plugin,omitempty"`
	Mode      string `json:"mode,omitempty"`
	Policy    string `json:"policy,omitempty"`
	Dataplane string `json:"dataplane,omitempty"`
	// DNS are the addresses of the cluster's DNS service.
	DNS []string `json:"dns,omitempty"`
	// ID is the virtual network's own identifier.
	ID string `json:"id,omitempty"`
	// ClusterID is part of the names of the cluster's resources in the cloud.
	ClusterID string `json:"clusterID,omitempty"`
	// SecurityGroup is attached to the interface. Empty means that the subnet's security group is enough.
	SecurityGroup string `json:"securityGroup,omitempty"`
	// Addresses is the interface's number of addresses.
	Addresses int32 `json:"addresses,omitempty"`
	// Accelerated reports whether the interface bypasses the host.
	Accelerated *bool `json:"accelerated,omitempty"`
}

// Security protects a machine.
type Security struct {
	// EncryptionAtHost encrypts what the host keeps of its disks.
	EncryptionAtHost *bool `json:"encryptionAtHost,omitempty"`
	// VTPM and SecureBoot are parts of a trusted launch.
	VTPM       *bool `json:"vtpm,omitempty"`
	SecureBoot *bool `json:"secureBoot,omitempty"`
}

// Trusted reports whether the launch is a trusted one.
func (s Security) Trusted() bool { return isTrue(s.VTPM) || isTrue(s.SecureBoot) }

func isTrue(b *bool) bool { return b != nil && *b }
