package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// proxyChecks are those of an HTTP proxy.
var proxyChecks = []Check{{
	Name: "proxy", Asks: "Does the proxy of the kubelet, and of the container runtime, lead to their servers?",
	Needs: []string{"route", "names"}, Live: true, Deadline: 3 * time.Second,
	Causes: []Cause{
		{"invalid", "the proxy's URL is not that of an HTTP proxy", "correct HTTPS_PROXY in the service's environment: http://HOST:PORT"},
		{"unreachable", "the proxy cannot be reached", "check the proxy's address in HTTPS_PROXY, and that the proxy runs and the firewalls let this machine connect to its port"},
		{"credential", "the proxy wants a user and a password", "give the proxy's user and password in HTTPS_PROXY, or let the proxy accept this machine's network"},
		{"denied", "the proxy refuses to connect to the server", "allow CONNECT to the server's host and port in the proxy's rules, or add the host to NO_PROXY if the machine reaches it directly"},
		{"no-proxy", "the server is reached directly, and not through the proxy: NO_PROXY lacks it", "add the host to NO_PROXY of the service, and restart it"},
		{"failing", "the proxy itself does not reach the server", "check the proxy's own way to the server, and its DNS"},
		{"not-proxy", "the program at the proxy's address is no HTTP proxy", "check the address and the port in HTTPS_PROXY"},
	},
	Look: lookProxy,
}}

// proxied is a server that a service reaches through a proxy.
type proxied struct {
	service, host, port string
	proxy               nodeconfig.Secret
}

// proxiedServers are the API server for the kubelet, and the sandbox image's registry for the container runtime.
func proxiedServers(p *Patient) (all []proxied) {
	if s := p.server(); s != nil && !s.proxy.IsZero() {
		all = append(all, proxied{"kubelet", s.host, s.port, s.proxy})
	}
	if registry := sandboxRegistry(p); registry.host != "" {
		if proxy := proxyOf(p.runtimeService(), registry.host, registry.port); !proxy.IsZero() {
			all = append(all, proxied{"container runtime", registry.host, registry.port, proxy})
		}
	}
	return all
}

func lookProxy(ctx context.Context, p *Patient) *Finding {
	servers := proxiedServers(p)
	if len(servers) == 0 {
		return fine("no server is reached through a proxy")
	}
	var said []string
	f := new(Finding)
	for _, s := range servers {
		if s.look(ctx, p, f).State != Fine {
			return f
		}
		said = append(said, f.Says)
	}
	return f.fine("%s", strings.Join(said, "; "))
}

// shown is the proxy without its password.
func (s *proxied) shown() string {
	u, err := url.Parse(s.proxy.Reveal())
	if err != nil || u.Hostname() == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

func (s *proxied) look(ctx context.Context, p *Patient, f *Finding) *Finding {
	name, to := s.shown(), s.host+":"+s.port
	if name == "" {
		return f.wrong("invalid", "HTTPS_PROXY of the %s is not the URL of an HTTP proxy", s.service)
	}
	o := p.Machine.Attempt(ctx, &host.Attempt{URL: "https://" + to + "/", Proxy: s.proxy, Stop: host.Tunneled})
	f.with("CONNECT "+to+" through "+name, describe(o))
	if o.Failed == "" {
		return f.fine("the %s's proxy %s leads to %s", s.service, name, to)
	}
	if o.Failed != host.Tunneled {
		if s.service != "kubelet" {
			return s.unneeded(f, name, to, o)
		}
		how := reason(o.Err)
		if errors.Is(o.Err, syscall.ECONNREFUSED) {
			how = "nothing listens there"
		} else if isTimeout(o.Err) {
			how = "it does not answer"
		}
		at := ""
		if o.Address.IsValid() {
			at = " (" + o.Address.String() + ")"
		}
		return f.wrong("unreachable", "the %s's proxy %s%s cannot be reached: %s", s.service, name, at, how)
	}
	if s.service != "kubelet" && p.holdsSandboxImage(ctx) {
		return s.unneeded(f, name, to, o)
	}
	// Whether the machine reaches the server itself shows what is missing.
	direct := p.Machine.Attempt(ctx, &host.Attempt{URL: "https://" + to + "/", Addresses: p.addresses(ctx, s.host), Stop: host.Connected})
	f.with("connect to "+to+" without the proxy", describe(direct))
	f.wrong("not-proxy", "does not answer CONNECT as an HTTP proxy does: %s", reason(o.Err))
	switch {
	case direct.Failed == "":
		f.wrong("no-proxy", "does not lead to %s (%s), which this machine reaches directly: NO_PROXY lacks %s", to, status(o), s.host)
	case o.Status == http.StatusProxyAuthRequired:
		f.wrong("credential", "wants a user and a password (HTTP status 407)")
	case o.Status >= 500:
		f.wrong("failing", "does not reach %s (HTTP status %d)", to, o.Status)
	case o.Status >= 300:
		f.wrong("denied", "refuses CONNECT to %s (HTTP status %d)", to, o.Status)
	}
	f.Says = "the " + s.service + "'s proxy " + name + " " + f.Says
	return f
}

func status(o *host.Outcome) string {
	if o.Status == 0 {
		return "no HTTP answer"
	}
	return fmt.Sprintf("HTTP status %d", o.Status)
}

// unneeded is a failure that the node can live with: it holds the sandbox image.
func (s *proxied) unneeded(f *Finding, name, to string, o *host.Outcome) *Finding {
	return f.fine("the %s's proxy %s does not lead to %s (%s), which the node does not need: it holds the sandbox image", s.service, name, to, reason(o.Err))
}
