package facts

import (
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
	// SkipGPUDriver asks for no GPU driver (AKS: SkipGpuDriverInstall).
	SkipGPUDriver bool `json:"skipGPUDriver,omitempty"`
}

// The names of the tags.
const (
	ServerAddressTag = "aksAPIServerIPAddress"
	SkipGPUTag       = "SkipGpuDriverInstall"
)

// Tag is one that AKS's nodes may have.
type Tag struct {
	Name string
	// take reads the value.
	take func(t *Tags, value string)
}

// KnownTags are all there are, by name.
var KnownTags = []Tag{
	{Name: ServerAddressTag, take: func(t *Tags, value string) {
		if t.APIServerAddress == "" {
			t.APIServerAddress = ServerAddress(value)
		}
	}},
	{Name: SkipGPUTag, take: func(t *Tags, value string) { t.SkipGPUDriver = t.SkipGPUDriver || isTrue(value) }},
}

// Take reads one of the machine's tags. A name is the same in any case of its letters, as in Azure, where no machine has
// two of one name. Of two that are given here all the same, the first that has a good value counts.
func (t *Tags) Take(name, value string) {
	for _, known := range KnownTags {
		if strings.EqualFold(known.Name, name) {
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
	if t.APIServerAddress == "" {
		t.APIServerAddress = before.APIServerAddress
	}
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
