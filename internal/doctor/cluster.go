package doctor

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"net/url"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/kubeletsetup"
	"github.com/slipway-dev/slipway/internal/namelookup"
	"github.com/slipway-dev/slipway/internal/noproxy"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Kubelet is how the machine's kubelet is set up. The caller must not change it.
func (p *Patient) Kubelet() *kubeletsetup.Kubelet {
	return p.known.kubelet.get(func() *kubeletsetup.Kubelet { return kubeletsetup.Find(p.Machine) })
}

// runtimeService is the container runtime's service.
func (p *Patient) runtimeService() *kubeletsetup.Service {
	return p.known.runtime.get(func() *kubeletsetup.Service {
		service := kubeletsetup.FindService(p.Machine, profile.ContainerdUnit, "containerd")
		return &service
	})
}

// access is how this machine reaches its cluster, found once.
type access struct {
	once sync.Once
	// kubelet and bootstrap are the kubelet's two kubeconfigs, each with the reason why it cannot be read.
	kubelet, bootstrap           *kubeletsetup.Access
	kubeletError, bootstrapError error
	// server is the first of them, or else what the machine's contract has. It may be nil.
	server *kubeletsetup.Access
}

func (p *Patient) access() *access {
	a := &p.known.access
	a.once.Do(func() {
		k := p.Kubelet()
		read := func(found kubeletsetup.Found) (*kubeletsetup.Access, error) {
			if found.Value == "" {
				return nil, nil
			}
			return kubeletsetup.ReadKubeconfig(p.Machine, found.Value)
		}
		a.kubelet, a.kubeletError = read(k.Kubeconfig)
		a.bootstrap, a.bootstrapError = read(k.Bootstrap)
		a.server = cmp.Or(a.kubelet, a.bootstrap)
		if a.server == nil {
			a.server = contractAccess(p.Machine)
		}
		if a.server != nil && a.server.AuthorityFile != "" && a.server.Authority == "" {
			if content, err := p.Machine.ReadLinked(a.server.AuthorityFile, kubeletsetup.MaxKubeconfig); err == nil {
				a.server.Authority = string(content)
			}
		}
	})
	return a
}

// contractAccess is the API server in the machine's contract, if the contract is a file.
func contractAccess(files Files) *kubeletsetup.Access {
	for _, family := range profile.All() {
		for _, path := range []string{family.Contract.YAML, family.Contract.JSON} {
			if path == "" {
				continue
			}
			content, err := files.ReadFile(path, document.MaxBytes)
			if err != nil {
				continue
			}
			cluster := compile.ReadOne(path, content).Config.Cluster
			if u, err := url.Parse(cluster.Server); err == nil && u.Hostname() != "" {
				return &kubeletsetup.Access{File: path, Server: cluster.Server, Authority: cluster.CertificateAuthority}
			}
		}
	}
	return nil
}

// server is where the API server is: its host and port, and the proxy that the kubelet reaches it through.
type server struct {
	*kubeletsetup.Access
	url        *url.URL
	host, port string
	proxy      nodeconfig.Secret
}

// server is the machine's API server, or nil.
func (p *Patient) server() *server {
	a := p.access().server
	if a == nil {
		return nil
	}
	u, err := url.Parse(a.Server)
	if err != nil {
		return nil
	}
	s := &server{Access: a, url: u, host: u.Hostname(), port: cmp.Or(u.Port(), defaultPorts[u.Scheme]), proxy: a.Proxy}
	if s.proxy.IsZero() {
		s.proxy = proxyOf(&p.Kubelet().Service, s.host, s.port)
	}
	return s
}

// proxyOf is the proxy through which a service reaches a server with TLS, or empty. Programs in Go read the variables in
// capital letters first (golang.org/x/net/http/httpproxy, FromEnvironment).
func proxyOf(s *kubeletsetup.Service, host, port string) nodeconfig.Secret {
	proxy := s.Variable("HTTPS_PROXY", "https_proxy")
	if proxy.IsZero() || noproxy.Has(strings.Split(s.Variable("NO_PROXY", "no_proxy").Reveal(), ","), host, port) {
		return nodeconfig.Secret{}
	}
	if text := proxy.Reveal(); !strings.Contains(text, "://") {
		return nodeconfig.NewSecret("http://" + text)
	}
	return proxy
}

// defaultPorts are the ports of servers without an explicit one.
var defaultPorts = map[string]string{"http": "80", "https": "443"}

// first is the host that this machine itself must reach first: the proxy, or the server.
func (s *server) first() string {
	if s.proxy.IsZero() {
		return s.host
	}
	if u, err := url.Parse(s.proxy.Reveal()); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	return s.host
}

// attempt is an attempt to reach the API server at a path, without a credential.
func (s *server) attempt(ctx context.Context, p *Patient, path string) *host.Attempt {
	a := &host.Attempt{
		URL:       s.url.Scheme + "://" + s.url.Host + strings.TrimRight(s.url.Path, "/") + path,
		Authority: s.Authority, ServerName: s.Name, Unverified: s.Insecure, Proxy: s.proxy, Limit: maxAnswer,
	}
	if s.proxy.IsZero() {
		a.Addresses = p.addresses(ctx, s.host)
	}
	return a
}

// maxAnswer limits what is read of an answer.
const maxAnswer = 256 << 10

// addresses are those of a host by the machine's own means, or nil.
func (p *Patient) addresses(ctx context.Context, name string) []netip.Addr {
	if _, err := netip.ParseAddr(name); err == nil {
		return nil // the attempt uses it as it is
	}
	if l := p.lookUp(ctx, name); l != nil {
		return l.Addresses
	}
	return nil
}

// reason is an error without the parts that the verdict names itself.
func reason(err error) string { return namelookup.Reason(err) }

// missing reports whether an error means that a file does not exist.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
