package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/poll"
	"github.com/slipway-dev/slipway/internal/resource"
)

const (
	// maxResolver bounds a file that names DNS servers.
	maxResolver = 64 << 10
	// unnamed is the name of a host that has no name yet (hostname(5)).
	unnamed = "localhost"
)

// network is a machine's present network.
type network struct {
	// addresses are all lasting addresses, of any interface.
	addresses func() ([]netip.Addr, error)
	routed    func() bool
	read      func(path string, limit int64) ([]byte, error)
	name      func() (string, error)
	starting  func(ctx context.Context, unit string) (bool, error)
}

func (m *Machine) network() *network {
	return &network{
		addresses: func() ([]netip.Addr, error) {
			table, err := syscall.NetlinkRIB(syscall.RTM_GETADDR, syscall.AF_UNSPEC)
			return lasting(table, 0), err
		},
		routed: func() bool { _, err := m.defaultInterface(); return err == nil },
		read:   m.ReadLinked,
		name:   m.NodeName,
		starting: func(ctx context.Context, unit string) (bool, error) {
			state, err := m.UnitState(ctx, unit)
			return state.Starting, err
		},
	}
}

// wait waits until the network has what a kubelet reads. Its error, a *apply.CheckError, names what is missing.
func (n *network) wait(ctx context.Context, want *resource.Network) error {
	var missing error
	err := poll.Until(ctx, addressInterval, addressInterval, func() (bool, error) {
		missing = n.missing(ctx, want)
		return missing == nil, nil
	})
	if err != nil {
		return &apply.CheckError{Cause: resource.CauseMissing, Endpoint: "network", Err: missing}
	}
	return nil
}

// missing returns the first missing thing, or nil.
func (n *network) missing(ctx context.Context, want *resource.Network) error {
	if want.After != "" {
		if starting, err := n.starting(ctx, want.After); err != nil {
			return err
		} else if starting {
			return fmt.Errorf("%s is not reached, before which this machine gets its name", want.After)
		}
	}
	if want.HostName {
		if name, err := n.name(); err != nil || name == "" || name == unnamed {
			return errors.Join(errors.New("the host has no name"), err)
		}
	}
	if len(want.Addresses) > 0 {
		have, err := n.addresses()
		if err != nil {
			return fmt.Errorf("addresses: %w", err)
		}
		for _, address := range want.Addresses {
			if !slices.ContainsFunc(have, func(a netip.Addr) bool { return serves(a, address) }) {
				return fmt.Errorf("the machine does not have the address %s", address)
			}
		}
		if !n.routed() {
			return errors.New("the machine has no default route")
		}
	}
	if want.Resolver != "" {
		content, err := n.read(want.Resolver, maxResolver)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(slices.Collect(bytes.Lines(content)), func(line []byte) bool {
			fields := strings.Fields(string(line))
			return len(fields) > 1 && fields[0] == "nameserver"
		}) {
			return fmt.Errorf("%s names no DNS server", want.Resolver)
		}
	}
	return nil
}

// serves reports whether an address is the wanted one. An unspecified address means any of its family.
func serves(have netip.Addr, wanted string) bool {
	want, err := netip.ParseAddr(wanted)
	if err == nil && want.IsUnspecified() {
		return have.Is4() == want.Is4() && have.IsGlobalUnicast()
	}
	return err == nil && have == want.Unmap()
}
