package facts

import (
	"cmp"
	"net/netip"
	"strings"
)

// Tags are what a machine's tags ask for, as far as a plan depends on it. Whoever owns the machine has given it the tags.
// They are not recorded as they are: a value may be a secret.
type Tags struct {
	// Tagged says that the tags are known, also of a machine that has none of these.
	Tagged bool `json:"tagged,omitempty"`
	// APIServerAddress is the API server's private address (AKS: aksAPIServerIPAddress).
	APIServerAddress string `json:"apiServerAddress,omitempty"`
	// OwnServingCertificate asks for a kubelet that makes its serving certificate itself, also where the contract has the
	// cluster sign it (AKS: aks-disable-kubelet-serving-certificate-rotation).
	OwnServingCertificate bool `json:"ownServingCertificate,omitempty"`
	// SkipGPUDriver asks for no GPU driver (AKS: SkipGpuDriverInstall).
	SkipGPUDriver bool `json:"skipGPUDriver,omitempty"`
	// ManagedGPU asks for the services of the node for GPUs (AKS: EnableManagedGPUExperience).
	ManagedGPU bool `json:"managedGPU,omitempty"`
}

// The names of the tags.
const (
	ServerAddressTag = "aksAPIServerIPAddress"
	ServingTag       = "aks-disable-kubelet-serving-certificate-rotation"
	SkipGPUTag       = "SkipGpuDriverInstall"
	ManagedGPUTag    = "EnableManagedGPUExperience"
)

// Tag is one that changes an AKS node. It is the JSON form too.
type Tag struct {
	Name string `json:"name"`
	// Value is the one that has an effect.
	Value string `json:"value"`
	// Changes says what the tag changes on a node, and Settings are the contract's settings whose effect that is, of a
	// NodeConfig or of AKS's contract.
	Changes  string   `json:"changes"`
	Settings []string `json:"settings,omitempty"`
	// Unused says why this version does nothing with the tag; empty for one that it reads.
	Unused string `json:"unused,omitempty"`
	// Source is what of AKS's reads it.
	Source string `json:"source"`
	// take reads the value.
	take func(t *Tags, value string)
}

// KnownTags are all there are, by name: those that AKS's own scripts read on a node.
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

// Take reads one of the machine's tags. A name is the same in any case of its letters, as in Azure, where no machine has
// two of one name. Of two that are given here all the same, the first that has a good value counts.
func (t *Tags) Take(name, value string) {
	for _, known := range KnownTags {
		if known.take != nil && strings.EqualFold(known.Name, name) {
			known.take(t, value)
		}
	}
}

// After returns the tags as they count on a machine whose tags were others before: an address that is gone from them stays
// until there is another. Tags that are not known change nothing.
func (t Tags) After(before Tags) Tags {
	if !t.Tagged {
		return before
	}
	t.APIServerAddress = cmp.Or(t.APIServerAddress, before.APIServerAddress)
	return t
}

func isTrue(value string) bool { return strings.EqualFold(value, "true") }

// ServerAddress returns an address that an API server can have, in its one form, or nothing where the text is none. A
// machine's own addresses are none: nothing of a cluster answers there.
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
