package doctor

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/namelookup"
)

// smallestMTU is what IPv6 needs (RFC 8200, section 5), and below which overlays of pods have no room.
const smallestMTU = 1280

// linkChecks are those of the machine's link and its routes.
var linkChecks = []Check{{
	Name: "link", Asks: "Is a network interface up, with an address and a usual MTU?", Live: true,
	Causes: []Cause{
		{"none", "the machine has no network interface", "attach a network interface to the machine, or let the kernel load its driver (`lspci -k`)"},
		{"down", "no interface has a link", "bring the interface up (`ip link set NAME up`), and check its cable, virtual switch or attachment"},
		{"no-address", "no interface has an address that another machine can reach", "check the DHCP server or the static address (`networkctl status`, `journalctl -u systemd-networkd`)"},
		{"small-mtu", "the interface's MTU is smaller than IPv6 and overlays need", "set the network's own MTU (`ip link set NAME mtu 1500`), and correct MTUBytes= in the network's file or the DHCP server's option 26"},
	},
	Look: lookLink,
}, {
	Name: "route", Asks: "Does the machine have a route to its API server?", Needs: []string{"link"}, Live: true, Deadline: 2 * time.Second,
	Causes: []Cause{
		{"none", "the machine has no default route", "restore the default route: check the DHCP server or Gateway= in the network's file, and run `networkctl reconfigure NAME`"},
	},
	Look: lookRoute,
}}

// link is an interface with what the kernel says about it.
type link struct {
	facts.Interface
	state string // of the link (Documentation/networking/operstates.rst)
	mtu   int
}

// links are the machine's interfaces; those of devices come before bridges, tunnels and those of pods.
func links(p *Patient) ([]*link, error) {
	interfaces, err := p.Machine.Interfaces()
	if err != nil {
		return nil, err
	}
	var wired, others []*link
	for _, i := range interfaces {
		l := &link{Interface: i}
		dir := "/sys/class/net/" + i.Name
		if text, err := p.Machine.ReadFile(dir+"/operstate", 4<<10); err == nil {
			l.state = strings.TrimSpace(string(text))
		}
		if text, err := p.Machine.ReadFile(dir+"/mtu", 4<<10); err == nil {
			l.mtu, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		entry, err := p.Machine.Stat(dir + "/device")
		if err == nil && entry.Kind != "" {
			wired = append(wired, l)
		} else {
			others = append(others, l)
		}
	}
	return append(wired, others...), nil
}

// reachable are the interface's addresses that another machine can reach.
func (l *link) reachable() (all []string) {
	for _, text := range l.Addresses {
		if prefix, err := netip.ParsePrefix(text); err == nil && prefix.Addr().IsGlobalUnicast() {
			all = append(all, prefix.Addr().String())
		}
	}
	return all
}

// show adds the interface as evidence.
func (l *link) show(f *Finding) {
	f.with("interface "+l.Name, fmt.Sprintf("link %s, MTU %d, addresses %s", l.state, l.mtu, strings.Join(l.Addresses, ", ")))
}

func lookLink(_ context.Context, p *Patient) *Finding {
	all, err := links(p)
	if err != nil {
		return unknownFor(err)
	}
	if len(all) == 0 {
		return wrong("none", "the machine has no network interface besides loopback")
	}
	f := new(Finding)
	for _, l := range all {
		l.show(f)
	}
	used := slices.IndexFunc(all, func(l *link) bool { return len(l.reachable()) > 0 && l.state != "down" })
	if on := routedInterface(p); on != "" {
		if i := slices.IndexFunc(all, func(l *link) bool { return l.Name == on && len(l.reachable()) > 0 }); i >= 0 {
			used = i
		}
	}
	if used < 0 {
		l := all[0]
		if l.state == "down" || l.state == "lowerlayerdown" {
			return f.wrong("down", "the interface %s has no link: its state is %s", l.Name, l.state)
		}
		return f.wrong("no-address", "the interface %s has no address that another machine can reach", l.Name)
	}
	l := all[used]
	if l.mtu > 0 && l.mtu < smallestMTU {
		return f.wrong("small-mtu", "the interface %s has an MTU of %d, and IPv6 and overlays of pods need at least %d", l.Name, l.mtu, smallestMTU)
	}
	return f.fine("the interface %s has %s and an MTU of %d", l.Name, strings.Join(l.reachable(), ", "), l.mtu)
}

// routedInterface is the interface with the first default route, or "".
func routedInterface(p *Patient) string {
	for route := range facts.DefaultRoutes(p.Machine.ReadFile) {
		return route.Interface
	}
	return ""
}

func lookRoute(ctx context.Context, p *Patient) *Finding {
	var said []string
	for route := range facts.DefaultRoutes(p.Machine.ReadFile) {
		if len(said) < namelookup.MaxServers {
			said = append(said, fmt.Sprintf("%s by %s on %s", route.Family, route.Gateway, route.Interface))
		}
	}
	if len(said) > 0 {
		return fine("there is a default route: %s", strings.Join(said, ", "))
	}
	// A machine of an isolated network can have routes to single networks only.
	s := p.server()
	if s == nil {
		return wrong("none", "the machine has no default route, for IPv4 or IPv6")
	}
	a := s.attempt(ctx, p, "")
	a.Stop = host.Connected
	o := p.Machine.Attempt(ctx, a)
	if o.Failed == "" {
		return fine("there is no default route, and the API server %s is reached by another one", s.at(o))
	}
	return wrong("none", "the machine has no default route, for IPv4 or IPv6: connecting to the API server %s fails with %q", s.at(o), reason(o.Err)).with("connect to "+s.Server, describe(o))
}
