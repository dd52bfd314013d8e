package launch

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/quantity"
)

// meaning decides when two texts of a field mean the same.
type meaning struct {
	name string
	// canonical returns the one spelling of all texts that mean the same. It goes into the contract. If nil, each text has one spelling.
	canonical func(string) string
	// compared returns the spelling by which two texts are compared. If nil, it is the canonical one. The contract keeps the author's
	// spelling, because programs that read it may show it or select by it.
	compared func(string) string
	// builds is true if two texts that mean the same may name two builds. If the cluster has another build, the author gets a warning.
	builds bool
}

// The meanings of texts. Numbers, booleans, durations and secrets of Go's types have one spelling.
var (
	// word is a name or one of several words, in which capital letters count.
	word = &meaning{name: "word"}
	// verbatim is what a file or a program gets as it is.
	verbatim = &meaning{name: "text"}
	// script is for an interpreter that reads lines, so line feeds at its end do not matter.
	script = &meaning{name: "script", canonical: oneLineFeed, compared: func(s string) string { return strings.TrimRight(s, "\r\n") }}
	// certificates are in PEM, in which blanks around the blocks do not matter (RFC 7468, 2).
	certificates = &meaning{name: "certificates", compared: func(s string) string { return strings.Join(strings.Fields(s), "\n") }}
	// amount is one of Kubernetes' quantities.
	amount = &meaning{name: "quantity", canonical: canonicalAmount}
	// span is a time as Go writes it.
	span = &meaning{name: "duration", canonical: canonicalSpan}
	// guid is compared by its digits (RFC 9562, 4).
	guid = &meaning{name: "GUID", canonical: strings.ToLower}
	// address is an IP address, subnet a range of them.
	address = &meaning{name: "address", canonical: canonicalAddress}
	subnet  = &meaning{name: "CIDR", canonical: canonicalSubnet}
	// host is the name of one (RFC 4343), server the URL of one (RFC 3986, 6.2.2 and 6.2.3).
	host   = &meaning{name: "host name", canonical: strings.ToLower}
	server = &meaning{name: "URL", canonical: canonicalServer}
	// version is compared without what follows a plus sign, which names a build (Semantic Versioning 2.0.0, 10).
	version = &meaning{name: "version", compared: func(s string) string {
		release, _, _ := strings.Cut(strings.TrimPrefix(s, "v"), "+")
		return release
	}, builds: true}
	// cloudID is a resource's ID in the cloud, and cloudName a resource's name. Azure compares both without case (Azure: naming rules for
	// resources).
	cloudID   = &meaning{name: "ID", compared: func(s string) string { return strings.ToLower(strings.TrimRight(s, "/")) }}
	cloudName = &meaning{name: "cloud's name", compared: strings.ToLower}
	// location is a region. People also write its display name: "East US".
	location = &meaning{name: "location", canonical: func(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "")) }}
)

// spelled is the canonical spelling.
func (m *meaning) spelled(s string) string {
	if m.canonical == nil {
		return s
	}
	return m.canonical(s)
}

// same is the spelling by which two are compared.
func (m *meaning) same(s string) string {
	if m.compared == nil {
		return m.spelled(s)
	}
	return m.compared(s)
}

func oneLineFeed(s string) string {
	if s == "" {
		return s
	}
	return strings.TrimRight(s, "\r\n") + "\n"
}

// canonicalAmount leaves what is not a quantity, such as a percentage, as it is.
func canonicalAmount(s string) string {
	if q, ok := quantity.Parse(s); ok {
		if text, exact := q.Text(); exact {
			return text
		}
	}
	return s
}

func canonicalSpan(s string) string {
	if d, err := time.ParseDuration(s); err == nil {
		return d.String()
	}
	return s
}

func canonicalAddress(s string) string {
	if ip, err := netip.ParseAddr(s); err == nil {
		return ip.Unmap().String()
	}
	return s
}

func canonicalSubnet(s string) string {
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.Masked().String()
	}
	return s
}

func canonicalServer(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return s
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if u.Path == "/" {
		u.Path = ""
	}
	return u.String()
}

// inOrder are the items of a set: sorted, each once.
func inOrder(items []string) []string {
	slices.Sort(items)
	return slices.Compact(items)
}
