package host

import (
	"context"
	"encoding/binary"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/poll"
)

// addressInterval is how often the machine's addresses are read.
const addressInterval = 50 * time.Millisecond

// WaitForAddress waits until the interface with the default route has an address that is not in known. It reports
// whether that happened before ctx is done.
func (m *Machine) WaitForAddress(ctx context.Context, known []string) bool {
	return waitForAddress(ctx, m.Addresses, known)
}

func waitForAddress(ctx context.Context, addresses func() ([]netip.Addr, error), known []string) bool {
	return poll.Until(ctx, addressInterval, addressInterval, func() (bool, error) {
		list, err := addresses()
		return err == nil && slices.ContainsFunc(list, func(a netip.Addr) bool {
			return a.IsGlobalUnicast() && !slices.Contains(known, a.String())
		}), nil // without a route there is no such interface
	}) == nil
}

// WaitForAddress does not wait: a directory has no network.
func (d *Directory) WaitForAddress(context.Context, []string) bool { return false }

// passing are the flags of an address that the machine does not have yet or will lose: the check for a duplicate has
// not ended or has found one, or its lease is not renewed (include/uapi/linux/if_addr.h).
const passing = unix.IFA_F_TENTATIVE | unix.IFA_F_DADFAILED | unix.IFA_F_DEPRECATED

// lasting are the addresses of an interface, or of all if index is 0, in the kernel's order, without those that pass.
// An IPv6 address that is replaced every day (RFC 8981) passes.
func lasting(table []byte, index int) []netip.Addr {
	messages, err := syscall.ParseNetlinkMessage(table)
	if err != nil {
		return nil
	}
	var list []netip.Addr
	for i := range messages {
		m := &messages[i]
		if m.Header.Type != syscall.RTM_NEWADDR || len(m.Data) < syscall.SizeofIfAddrmsg {
			continue
		}
		if of := int(binary.NativeEndian.Uint32(m.Data[4:])); index != 0 && of != index {
			continue
		}
		attributes, err := syscall.ParseNetlinkRouteAttr(m)
		if err != nil {
			continue
		}
		var address, local netip.Addr
		flags := uint32(m.Data[2])
		for _, a := range attributes {
			switch a.Attr.Type {
			case syscall.IFA_ADDRESS:
				address, _ = netip.AddrFromSlice(a.Value)
			case syscall.IFA_LOCAL: // on a point-to-point link, IFA_ADDRESS is the peer's
				local, _ = netip.AddrFromSlice(a.Value)
			case unix.IFA_FLAGS:
				if len(a.Value) == 4 {
					flags = binary.NativeEndian.Uint32(a.Value)
				}
			}
		}
		if local.IsValid() {
			address = local
		}
		temporary := address.Is6() && flags&unix.IFA_F_TEMPORARY != 0
		if address.IsValid() && flags&passing == 0 && !temporary {
			list = append(list, address.Unmap())
		}
	}
	return list
}
