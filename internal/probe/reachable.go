package probe

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// trustBundles are the files with all certificates that a machine trusts, on the nodes' distributions (Go: crypto/x509,
// root_linux.go). They are read at each attempt: Go itself reads them once in a process, and they change.
var trustBundles = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"}

// maxBundle limits such a file; a distribution's has a quarter of a megabyte.
const maxBundle = 4 << 20

// probeReachable waits until a server is reachable: its name resolves, it accepts a connection, and it presents a
// certificate that the machine trusts. The probe sends no request.
func (p *prober) probeReachable(ctx context.Context, to *resource.Reachable, read func(path string, limit int64) ([]byte, error)) error {
	host, port, err := net.SplitHostPort(to.Server)
	if err != nil || host == "" {
		return &apply.CheckError{Cause: resource.CauseConnection, Endpoint: to.Server, Err: errors.New("is not HOST:PORT")}
	}
	return p.try(ctx, &target{
		host: host, port: port, endpoint: to.Server,
		prepare: func(t *target) *failure {
			t.roots = trustedRoots(read)
			if to.Proxy == "" {
				return nil
			}
			var err error
			if t.proxy, err = readProxy(to.Proxy, read); err != nil {
				return t.failed(resolving, resource.CauseProxy, netip.AddrPort{}, err)
			}
			return nil
		},
		talk: func(context.Context, *http.ClientConn, netip.AddrPort) *failure { return nil },
	})
}

// trustedRoots are the certificates that the machine trusts now. If nil, Go's default applies.
func trustedRoots(read func(path string, limit int64) ([]byte, error)) *x509.CertPool {
	for _, path := range trustBundles {
		pool := x509.NewCertPool()
		if bundle, err := read(path, maxBundle); err == nil && pool.AppendCertsFromPEM(bundle) {
			return pool
		}
	}
	return nil
}
