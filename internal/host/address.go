package host

import (
	"context"
	"net/netip"
	"slices"
	"time"
)

// addressInterval is how often the machine's addresses are looked at.
const addressInterval = 50 * time.Millisecond

// WaitForAddress waits until the interface with the default route has an address that is not among those
// known, and tells whether it has before ctx is done.
func (m *Machine) WaitForAddress(ctx context.Context, known []string) bool {
	return waitForAddress(ctx, m.Addresses, known)
}

func waitForAddress(ctx context.Context, addresses func() ([]netip.Addr, error), known []string) bool {
	for {
		// While there is no route there is no interface that has it.
		list, err := addresses()
		if err == nil && slices.ContainsFunc(list, func(a netip.Addr) bool {
			return a.IsGlobalUnicast() && !slices.Contains(known, a.String())
		}) {
			return true
		}
		if !sleep(ctx, addressInterval) {
			return false
		}
	}
}

// WaitForAddress waits for nothing: a directory is in no network.
func (d *Directory) WaitForAddress(context.Context, []string) bool { return false }
