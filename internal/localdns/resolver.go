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
	// inForce names the DNS servers that the machine asks (systemd-resolved.service(8)).
	inForce = concern.ResolvedList
	// remembered are the servers that were in force before the cache, and switched the path of the drop-in that makes the
	// cache the server: what is needed to find the way back.
	remembered = dnscache.RunDir + "/upstream-dns"
	switched   = dnscache.RunDir + "/resolver"
	// dropIn is the name of that drop-in (AKS: localdns.sh).
	dropIn = "70-localdns.conf"

	maxResolver = 64 << 10
	maxCorefile = 1 << 20
	// maxServers is how many of them CoreDNS asks at most (CoreDNS: plugin forward).
	maxServers = 15

	// upstreamPatience is how long a machine that boots may take to have a DNS server, and settlePatience how long the
	// resolver may take to have what it was given.
	upstreamPatience = time.Minute
	settlePatience   = 5 * time.Second
	lookInterval     = 250 * time.Millisecond
	commandPatience  = resource.Duration(10 * time.Second)
	// reloadPatience is shorter than systemd's patience with the supervisor. At boot, D-Bus comes later than the cache.
	reloadPatience = resource.Duration(45 * time.Second)
)

// dropInText makes the cache the only DNS server of a network, also of one whose own files name others: an empty assignment
// takes those of before away (systemd.network(5), DNS=).
const dropInText = "# Written by slipway-node local-dns, which removes it when it ends.\n" +
	"[Network]\nDNS=\nDNS=" + dnscache.HostListener + "\n\n[DHCP]\nUseDNS=false\n"

// switchResolver has the machine's resolver ask the cache, and nobody else. Where that is written is noted before, so that
// the way back is known whatever happens.
func (s *Supervisor) switchResolver(ctx context.Context, network string) error {
	place := "/run/systemd/network/" + path.Base(network) + ".d/" + dropIn
	for _, file := range []*resource.File{
		{Path: switched, Mode: 0o600, Content: []byte(place + "\n")},
		{Path: place, Mode: 0o644, Content: []byte(dropInText)}, // systemd-networkd is no superuser
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

// restoreResolver has the machine's resolver ask whom it asked before, and waits until it does. If the cache is not in
// force, it does nothing.
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
		// The drop-in is gone, and nothing else can be done here. The note stays, so the next to come tries again.
		s.Log.Warn("the resolver still asks the DNS cache", "path", inForce, "error", err)
		return nil
	}
	return s.Machine.Remove(switched)
}

// settle waits until the cache is, or is not, among the servers that the resolver asks.
func (s *Supervisor) settle(ctx context.Context, isCache bool) error {
	return pollFor(ctx, settlePatience, func() (bool, error) {
		text, err := s.Machine.ReadFile(inForce, maxResolver)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return bytes.Contains(text, []byte("nameserver "+dnscache.HostListener+"\n")) == isCache, err
	})
}

// reload has systemd-networkd read its networks again.
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

// pollFor looks until it has seen enough, for as long as its patience lasts.
func pollFor(ctx context.Context, patience time.Duration, look func() (enough bool, err error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	err := poll.Until(ctx, lookInterval, lookInterval, look)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
