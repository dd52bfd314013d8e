package localdns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/dnscache"
	"github.com/slipway-dev/slipway/internal/poll"
	"github.com/slipway-dev/slipway/internal/resource"
)

const (
	// inForce has the DNS servers that the machine uses (systemd-resolved.service(8)).
	inForce = concern.ResolvedList
	// remembered are the servers from before the cache, and switched is the path of the drop-in that makes the cache
	// the server: both are needed to switch back.
	remembered = dnscache.RunDir + "/upstream-dns"
	switched   = dnscache.RunDir + "/resolver"
	// dropIn is the name of that drop-in (AKS: localdns.sh).
	dropIn = "70-localdns.conf"

	maxResolver = 64 << 10
	maxCorefile = 1 << 20
	// maxServers is how many servers CoreDNS uses at most (CoreDNS: plugin forward).
	maxServers = 15

	// upstreamPatience is how long a booting machine may take to have a DNS server, and settlePatience how long the
	// resolver may take to use new servers.
	upstreamPatience = time.Minute
	settlePatience   = 5 * time.Second
	lookInterval     = 250 * time.Millisecond
	commandPatience  = resource.Duration(10 * time.Second)
	// reloadPatience is shorter than systemd's patience with the supervisor. At boot, D-Bus comes later than the cache.
	reloadPatience = resource.Duration(45 * time.Second)
)

// dropInText makes the cache the only DNS server of a network, even if the network's files name others: an empty
// assignment removes the earlier ones (systemd.network(5), DNS=).
const dropInText = "# Written by slipway-node local-dns, which removes it when it ends.\n" +
	"[Network]\nDNS=\nDNS=" + dnscache.HostListener + "\n\n[DHCP]\nUseDNS=false\n"

// switchResolver makes the cache the only server of the machine's resolver. It first records the drop-in's path, so
// that the resolver can be switched back whatever happens.
func (s *Supervisor) switchResolver(ctx context.Context, network string) error {
	place := "/run/systemd/network/" + path.Base(network) + ".d/" + dropIn
	for _, file := range []*resource.File{
		{Path: switched, Mode: 0o600, Content: []byte(place + "\n")},
		{Path: place, Mode: 0o644, Content: []byte(dropInText)}, // systemd-networkd does not run as the superuser
	} {
		if err := s.Machine.WriteFileAtomic(file); err != nil {
			return err
		}
	}
	if err := s.reload(ctx); err != nil {
		return err
	}
	err := s.settle(ctx, true)
	if errors.Is(err, errPatience) {
		s.Log.Warn("the resolver has the DNS cache, and still asks others", "path", inForce)
		return nil
	}
	return err
}

// restoreResolver switches the machine's resolver back to its earlier servers, and waits until it uses them. If the
// cache is not in use, it does nothing.
func (s *Supervisor) restoreResolver(ctx context.Context) error {
	note, err := s.Machine.ReadFile(switched, maxResolver)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if place := strings.TrimSpace(string(note)); place != "" {
		if err := s.Machine.Remove(place); err != nil {
			return err
		}
	}
	if err := s.reload(ctx); err != nil {
		return err
	}
	if err := s.settle(ctx, false); err != nil {
		// The drop-in is gone, and nothing else can be done here. The record stays, so the next run tries again.
		s.Log.Warn("the resolver still asks the DNS cache", "path", inForce, "error", err)
		return nil
	}
	return s.Machine.Remove(switched)
}

// settle waits until the cache is, or is not, among the resolver's servers.
func (s *Supervisor) settle(ctx context.Context, isCache bool) error {
	return pollFor(ctx, settlePatience, func() (bool, error) {
		text, err := s.Machine.ReadFile(inForce, maxResolver)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return bytes.Contains(text, []byte("nameserver "+dnscache.HostListener+"\n")) == isCache, err
	})
}

// reload makes systemd-networkd read its networks again.
func (s *Supervisor) reload(ctx context.Context) error {
	return s.run(ctx, "read the networks again", reloadPatience, []string{"networkctl", "reload"})
}

func (s *Supervisor) run(ctx context.Context, label string, patience resource.Duration, argv []string) error {
	output, err := s.Machine.Run(ctx, &resource.Command{Label: label, Argv: argv, Timeout: patience})
	if said := strings.Join(strings.Fields(string(output)), " "); err != nil && said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return err
}

var errPatience = errors.New("takes too long")

// pollFor looks until it has seen enough, or until its patience ends.
func pollFor(ctx context.Context, patience time.Duration, look func() (enough bool, err error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	err := poll.Until(ctx, lookInterval, lookInterval, look)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
