package kubelet

import (
	"net/netip"
	"strconv"

	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Healthz is the check of the kubelet's health endpoint; nil if the endpoint cannot be used.
func Healthz(k nodeconfig.Kubelet) *resource.Healthz {
	if url := healthzURL(k); url != "" {
		return &resource.Healthz{URL: url}
	}
	return nil
}

// healthzURL is the kubelet's health endpoint, or "" if the loopback has none (Kubernetes:
// KubeletConfiguration, healthzBindAddress and healthzPort; 0 disables it).
func healthzURL(k nodeconfig.Kubelet) string {
	port, err := strconv.ParseUint(kubeletsetting.Value(k, "healthz-port", "healthzPort", "10248"), 10, 16)
	if err != nil || port == 0 {
		return ""
	}
	address, err := netip.ParseAddr(kubeletsetting.Value(k, "healthz-bind-address", "healthzBindAddress", "127.0.0.1"))
	switch {
	case err != nil:
		return ""
	case address == netip.IPv4Unspecified():
		address = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	case address == netip.IPv6Unspecified():
		address = netip.IPv6Loopback()
	case !address.IsLoopback():
		return ""
	}
	return "http://" + netip.AddrPortFrom(address, uint16(port)).String() + "/healthz"
}
