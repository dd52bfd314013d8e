package facts

import (
	"cmp"
	"net/netip"
	"strings"
)

// Tags are the requests of a machine's tags, as far as a plan depends on them. The machine's owner sets the tags. They
// are not recorded as they are: a value may be a secret.
type Tags struct {
	// Tagged reports whether the tags are known. It is also true for a machine without any of these.
	Tagged bool `json:"tagged,omitempty"`
	// APIServerAddress is the API server's private address (AKS: aksAPIServerIPAddress).
	APIServerAddress string `json:"apiServerAddress,omitempty"`
	// OwnServingCertificate requests a kubelet that makes its serving certificate itself, even if by the contract the
	// cluster signs it (AKS: aks-disable-kubelet-serving-certificate-rotation).
	OwnServingCertificate bool `json:"ownServingCertificate,omitempty"`
	// SkipGPUDriver requests that no GPU driver is installed (AKS: SkipGpuDriverInstall).
	SkipGPUDriver bool `json:"skipGPUDriver,omitempty"`
	// ManagedGPU requests the node's GPU services (AKS: EnableManagedGPUExperience).
	ManagedGPU bool `json:"managedGPU,omitempty"`
}

// The names of the tags.
const (
	ServerAddressTag = "aksAPIServerIPAddress"
	ServingTag       = "aks-disable-kubelet-serving-certificate-rotation"
	SkipGPUTag       = "SkipGpuDriverInstall"
	ManagedGPUTag    = "EnableManagedGPUExperience"
)

// Tag is a tag that changes an AKS node, in its documentation's JSON form.
type Tag struct {
	Name string `json:"name"`
	// Value is the value that has an effect.
	Value string `json:"value"`
	// Changes describes the tag's effect on a node. Settings are the settings with the same effect, of a NodeConfig or
	// of AKS's contract.
	Changes  string   `json:"changes"`
	Settings []string `json:"settings,omitempty"`
	// Unused is why this version ignores the tag. It is empty if it does not.
	Unused string `json:"unused,omitempty"`
	// Source is the part of AKS that reads it.
	Source string `json:"source"`
	// take reads the value.
	take func(t *Tags, value string)
}

// KnownTags are all tags that AKS's scripts read on a node, by name.
var KnownTags = []Tag{
	{
		Name: ServingTag, Value: "true",
		Changes:  "an AKS node's kubelet makes its serving certificate itself, and the node has no label that says that the cluster signs it",
		Settings: []string{"$.kubelet.config.serverTLSBootstrap", `$.kubelet_config.kubelet_flags["--rotate-server-certificates"]`},
		Source:   "AKS's provisioning scripts",
		take:     func(t *Tags, value string) { t.OwnServingCertificate = t.OwnServingCertificate || isTrue(value) },
	},
	{
		Name: ServerAddressTag, Value: "an IP address",
		Changes:  "/etc/hosts has this address for the API server's name; the watcher follows it",
		Settings: []string{"$.network.hostsAgent"},
		Source:   "reconcile-private-hosts.sh",
		take: func(t *Tags, value string) {
			t.APIServerAddress = cmp.Or(t.APIServerAddress, ServerAddress(value))
		},
	},
	{
		Name: "E2EMockAzureChinaCloud", Value: "true",
		Changes: "the node is made as one in the China cloud",
		Unused:  "it is for AKS's own tests",
		Source:  "AKS's provisioning scripts",
	},
	{
		Name: ManagedGPUTag, Value: "true",
		Changes:  "on a node that uses NVIDIA's GPUs, their device plug-in and the exporter of their metrics run as services",
		Settings: []string{"$.system.gpu"},
		Source:   "AKS's provisioning scripts",
		take:     func(t *Tags, value string) { t.ManagedGPU = t.ManagedGPU || isTrue(value) },
	},
	{
		Name: "ShouldEnforceKubePMCInstall", Value: "true",
		Changes: "the kubelet is installed from a package and not from an archive",
		Unused:  "Slipway uses the kubelet that the image has, and installs none",
		Source:  "AKS's provisioning scripts",
	},
	{
		Name: "SkipBinaryCleanup", Value: "true",
		Changes: "images and binaries of other versions stay on the node",
		Unused:  "Slipway removes none",
		Source:  "AKS's provisioning scripts",
	},
	{
		Name: SkipGPUTag, Value: "true",
		Changes:  "the node does nothing for its GPUs: runc is the runtime, and containerd 1.x does not look for devices (CDI)",
		Settings: []string{"$.system.gpu"},
		Source:   "AKS's provisioning scripts",
		take:     func(t *Tags, value string) { t.SkipGPUDriver = t.SkipGPUDriver || isTrue(value) },
	},
}

// Take reads one of the machine's tags. Names are case-insensitive, as in Azure, where a machine cannot have the same
// name twice. If it still does, the first valid value counts.
func (t *Tags) Take(name, value string) {
	for _, known := range KnownTags {
		if known.take != nil && strings.EqualFold(known.Name, name) {
			known.take(t, value)
		}
	}
}

// After returns the tags that apply to a machine, given its earlier tags: a removed address stays until there is
// another. Unknown tags change nothing.
func (t Tags) After(before Tags) Tags {
	if !t.Tagged {
		return before
	}
	t.APIServerAddress = cmp.Or(t.APIServerAddress, before.APIServerAddress)
	return t
}

func isTrue(value string) bool { return strings.EqualFold(value, "true") }

// ServerAddress returns the canonical form of an address that an API server can have, or "". An address such as
// loopback is invalid: no cluster answers there.
func ServerAddress(text string) string {
	address, err := netip.ParseAddr(text)
	if err != nil || address.Zone() != "" {
		return ""
	}
	address = address.Unmap()
	if address.IsUnspecified() || address.IsLoopback() || address.IsMulticast() || address == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return ""
	}
	return address.String()
}
