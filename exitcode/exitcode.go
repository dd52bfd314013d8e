package exitcode

import (
	"cmp"
	"slices"
	"sync"
)

// The codes that Slipway returns.
const (
	Success                  = 0
	Invalid                  = 1 // the document has errors, or a command failed
	UnitStartFailed          = 4
	ContainerdInstallFailed  = 28 // the contract's package of containerd has no containerd in it
	RuncInstallFailed        = 29 // the contract's package of runc has no runc in it
	KubernetesDownloadFailed = 31 // Kubernetes' programs could not be downloaded
	KubeletStartFailed       = 34
	ContainerdVersionInvalid = 39 // the configuration of the contract's containerd package is unknown
	CNIPluginMissing         = 41 // a network plug-in that the node needs is missing
	ModuleLoadFailed         = 49
	RealmFailed              = 80 // the machine is not a member of the contract's directory
	OutboundFailed           = 50 // the node has no way out, or does not reach a server that the contract names
	APIServerUnreachable     = 51
	APIServerNameUnresolved  = 52
	APIServerNameUnknown     = 53 // the cloud's DNS server does not know the API server's name
	Usage                    = 64 // the command line is wrong: EX_USAGE of sysexits(3); a crash of the program never has this code
	ImageNotBuilt            = 65 // the machine does not run a finished node image
	ContainerdDownloadFailed = 70 // the contract's package of containerd could not be downloaded
	RuncDownloadFailed       = 71 // the contract's package of runc could not be downloaded
	Interrupted              = 75 // a signal asked the agent to end before it was done: EX_TEMPFAIL of sysexits(3)
	GPUDriverFailed          = 84 // NVIDIA's driver does not answer
	GPUDriverMissing         = 85 // the image has no driver for the machine's GPUs
	GPUDevicePluginFailed    = 86 // the service that reports GPUs to Kubernetes could not be started
	GPUInfoROMCorrupted      = 87 // a GPU is damaged
	TranscoderMissing        = 95 // the image has no driver for AMD's accelerator
	SysctlFailed             = 103
	KubeletInstallFailed     = 121 // there is no kubelet binary
	KubectlInstallFailed     = 122 // there is no kubectl, although the image has it as a package
	ManagedGPUFailed         = 123 // two services would report the same GPUs
	Timeout                  = 124 // the provisioning as a whole took too long
	NodeExporterFailed       = 128 // the image's metrics exporter could not be started
	DRADriverFailed          = 129 // the driver for dynamic resource allocation could not be started
	SwapFailed               = 130 // the swap file could not be created or enabled
	SwapNoRoom               = 131 // no disk has space for the swap file
	StreamingFailed          = 153 // image streaming does not work
	TrustFailed              = 161 // certificates could not be added to the machine's store
	AttestedClientMissing    = 169 // the image has no client for the machine's attested identity
	SSHDisableFailed         = 172 // the SSH server could not be turned off
	NodeAddressMissing       = 173 // the machine has no IPv4 address for the rule of the metadata service
	MangleRuleFailed         = 174 // pods could not be kept from the metadata service by the table mangle
	FilterRuleFailed         = 175 // pods could not be kept from the metadata service by the table filter
	SSHKeysFailed            = 178 // the SSH server refuses its configuration
	UpdateTimerFailed        = 202 // the timer for security patches could not be started
	PrivatePackageFailed     = 203 // the image's private package of Kubernetes' programs is unusable
	KubernetesInstallFailed  = 204 // the download has no program of Kubernetes in it
	ProviderDownloadFailed   = 205 // the image credential provider could not be downloaded
	RegistryKubernetesFailed = 207 // the cluster's registry does not have Kubernetes' programs
	RegistryProviderFailed   = 208 // the cluster's registry does not have the image credential provider
	RegistryIdentityMissing  = 210 // the metadata service gives no token for the cluster's registry
	RegistryUnreachable      = 211 // the cluster's registry does not answer
	RegistryRefused          = 212 // the cluster's registry refuses the machine
	LocalDNSFailed           = 216 // the node's DNS cache is not ready
	LocalDNSCorefileMissing  = 217 // its configuration could not be written
	LocalDNSSliceMissing     = 218 // the unit with its limits could not be written or started
	LocalDNSBinaryMissing    = 219 // its program is missing
	AttestedBootstrapFailed  = 220 // the attested client has failed
	CertificateRefused       = 221 // the cluster does not issue the node's certificate
	ContractOlder            = 222 // the node has a contract with a higher revision
	SandboxImageFailed       = 233 // the image of pods' sandboxes could not be pulled from the cluster's registry
	DCGMMissing              = 235 // the image has no services for GPUs
	ContractNotFound         = 236 // there is no contract, or it cannot be read
	ContractInvalid          = 237 // the contract cannot make a node
	ScriptFailed             = 238 // a script that the contract brought failed
	AgentFailed              = 239 // the agent itself failed
	AKSNodeController        = 240 // replaces 236 to 239 on AKS's interfaces
	SecondaryInterfaceFailed = 243 // an interface after the first could not be configured
	ImageChanged             = 253 // the image's manifest, or a program in it, is not the expected one
	NodeNameTaken            = 254 // another Ready machine has the Node's name; AKS's new codes count up from 243
)

// ForAKS returns the code that AKS's consumers know for a code of this table. AKS's node controller always ends with
// 240 if it or its contract fails, and its consumers compare that number.
func ForAKS(code int) int {
	switch code {
	case ContractNotFound, ContractInvalid, ScriptFailed, AgentFailed:
		return AKSNodeController
	}
	return code
}

// Source is the program that returns a code.
type Source string

// The sources.
const (
	// Slipway returns the code; the scripts of AKS images may do so too.
	Slipway Source = "slipway"
	// AKS marks the codes that only the scripts of AKS images return.
	AKS Source = "aks"
)

// Code is an exit code's explanation. Meaning and Action are each one line that starts in lower case and ends without a
// period.
type Code struct {
	Number int    `json:"number"`
	Name   string `json:"name"`
	Source Source `json:"source"`
	// Meaning describes what went wrong.
	Meaning string `json:"meaning"`
	// Action describes what to do about it.
	Action string `json:"action"`
	// Clouds has the more precise action on a cloud, by the cloud's name: "azure" or "ec2". It is nil for most codes.
	Clouds map[string]string `json:"clouds,omitempty"`
}

// ActionOn returns what to do about it on a machine in a cloud, which is "" where it is in none that is known.
func (c Code) ActionOn(cloud string) string { return cmp.Or(c.Clouds[cloud], c.Action) }

// row is what the tables have of a code.
type row struct {
	number          int
	name            string
	source          Source
	meaning, action string
}

// table is sorted by number. It is built at its first use, because most runs of a program do not need it.
var table = sync.OnceValue(func() []Code {
	var codes []Code
	for _, rows := range [][]row{below100, from100, from200} {
		for _, r := range rows {
			codes = append(codes, Code{r.number, r.name, r.source, r.meaning, r.action, clouds[r.number]})
		}
	}
	return codes
})

// Lookup returns the explanation of the exit code n, and whether the table has it.
func Lookup(n int) (Code, bool) {
	codes := table()
	i, found := slices.BinarySearchFunc(codes, n, func(c Code, n int) int { return cmp.Compare(c.Number, n) })
	if !found {
		return Code{}, false
	}
	return codes[i], true
}

// All returns the whole table, sorted by number. The caller may change it.
func All() []Code { return slices.Clone(table()) }
