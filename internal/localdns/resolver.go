package localdns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
)

const (
	// inForce names the DNS servers that the machine asks (systemd-resolved.service(8)).
	inForce = "/run/systemd/resolve/resolv.conf"
	// remembered are the servers that were in force before the cache, and switched the path of the drop-in that makes the
	// cache the server: what is needed to find the way back.
	remembered = plan.LocalDNSRunDir + "/upstream-dns"
	switched   = plan.LocalDNSRunDir + "/resolver"
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
	"[Network]\nDNS=\nDNS=" + plan.HostListener + "\n\n[DHCP]\nUseDNS=false\n"

// nameservers are the DNS servers that a file names (resolv.conf(5)), each once, and without the cache itself. One that
// can be reached by a link alone is left out: CoreDNS does not know the link.
func nameservers(text []byte) (servers []netip.Addr) {
	for line := range bytes.Lines(text) {
		words := strings.Fields(string(line))
		if len(words) < 2 || words[0] != "nameserver" {
			continue
		}
		address, err := netip.ParseAddr(words[1])
		if err != nil || address.Zone() != "" || slices.Contains(listeners, address) || slices.Contains(servers, address) {
			continue
		}
		servers = append(servers, address)
	}
	return servers[:min(len(servers), maxServers)]
}

// upstream finds the machine's DNS servers: those in force, or, where only the cache is, those that were before it.
func (s *Supervisor) upstream(ctx context.Context) ([]netip.Addr, error) {
	known, err := s.recall()
	if err != nil {
		return nil, err
	}
	patience := upstreamPatience
	if len(known) > 0 {
		patience = settlePatience
	}
	var servers []netip.Addr
	err = poll(ctx, patience, func() (bool, error) {
		text, err := s.Machine.ReadFile(inForce, maxResolver)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		servers = nameservers(text)
		return len(servers) > 0, err
	})
	switch {
	case err == nil:
		var text strings.Builder
		for _, server := range servers {
			fmt.Fprintf(&text, "nameserver %s\n", server)
		}
		return servers, s.Machine.WriteFileAtomic(&resource.File{Path: remembered, Mode: 0o600, Content: []byte(text.String())})
	case errors.Is(err, errPatience) && len(known) > 0:
		return known, nil
	case errors.Is(err, errPatience):
		return nil, fmt.Errorf("%s names no DNS server: the machine has none, or does not look names up with systemd-resolved", inForce)
	}
	return nil, err
}

// recall are the servers that were in force before the cache.
func (s *Supervisor) recall() ([]netip.Addr, error) {
	text, err := s.Machine.ReadFile(remembered, maxResolver)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return nameservers(text), err
}

// withServers is a Corefile that asks the machine's own DNS servers where the planner's asks Azure's: on Azure, those of
// the virtual network (AKS: localdns.sh).
func withServers(text []byte, servers []netip.Addr) []byte {
	const azure = "forward . " + plan.AzureDNS + " {"
	return bytes.ReplaceAll(text, []byte(azure), []byte("forward . "+joined(servers)+" {"))
}

func joined(servers []netip.Addr) string {
	var words []string
	for _, server := range servers {
		words = append(words, server.String())
	}
	return strings.Join(words, " ")
}

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
	return poll(ctx, settlePatience, func() (bool, error) {
		text, err := s.Machine.ReadFile(inForce, maxResolver)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return bytes.Contains(text, []byte("nameserver "+plan.HostListener+"\n")) == isCache, err
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

// poll looks until it has seen enough, for as long as its patience lasts.
func poll(ctx context.Context, patience time.Duration, look func() (enough bool, err error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	for {
		if enough, err := look(); err != nil || enough {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lookInterval):
		}
	}
}
