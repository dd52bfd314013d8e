package lab

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/test/e2e/registry"
)

// Images that no node's image contains. No name server knows their registries.
const (
	// MirroredImage is pulled from the mirror.
	MirroredImage = "mirrored.internal/" + repository + ":" + tag
	// ProxiedImage is pulled from its own registry, which only the proxy can reach.
	ProxiedImage = proxiedHost + "/" + repository + ":" + tag

	proxiedHost     = "proxied.internal"
	repository, tag = "payload", "1"
)

// The addresses of the mirror and the proxy.
const (
	MirrorAddress = "10.77.0.2"
	mirrorPort    = ":5000"
	proxyPort     = ":3128"
	tlsProxyPort  = ":3129"
)

// MirrorUser is the user who may pull from the mirror.
const MirrorUser = "node"

// Registries are the sandbox's image registries, and the servers in front of them. Each has one different image.
type Registries struct {
	// Mirror is the address of a mirror for a registry that does not exist, with a certificate of MirrorPKI. It requires a login:
	// MirrorUser, with MirrorPassword.
	Mirror         string
	MirrorPKI      *PKI
	MirrorPassword string
	// Proxy is the address of an HTTP proxy that only leads to ProxiedImage's registry. That registry has a certificate of PKI.
	Proxy string
	PKI   *PKI
	// TLSProxy is the address of the same proxy for clients that connect with TLS. It has a certificate of ProxyPKI.
	TLSProxy string
	ProxyPKI *PKI
	// Requests are the requests to the three: "mirror", "registry" and "proxy".
	Requests *Requests
}

// registries starts the registries and the proxy on the sandbox's network.
func (l *Lab) registries(ctx context.Context) (err error) {
	if l.Registries, err = startRegistries(ctx, l.dir, l.Parts.Payload, MirrorAddress+mirrorPort, HostAddress+proxyPort, HostAddress+tlsProxyPort); err != nil {
		err = fmt.Errorf("registries: %w", err)
	}
	return err
}

// startRegistries starts the registries and the proxy at addresses. payload is the directory with the program of their images.
func startRegistries(ctx context.Context, dir, payload, mirror, proxy, tlsProxy string) (*Registries, error) {
	r := &Registries{MirrorPassword: rand.Text(), Requests: &Requests{}}
	var err error
	if r.MirrorPKI, err = NewPKI(filepath.Join(dir, "mirror-pki"), "e2e-mirror-ca"); err != nil {
		return nil, err
	}
	if r.PKI, err = NewPKI(filepath.Join(dir, "registry-pki"), "e2e-registry-ca"); err != nil {
		return nil, err
	}
	if r.ProxyPKI, err = NewPKI(filepath.Join(dir, "proxy-pki"), "e2e-proxy-ca"); err != nil {
		return nil, err
	}
	program, err := os.ReadFile(filepath.Join(payload, "payload"))
	if err != nil {
		return nil, err
	}
	// A machine cannot reach the registry: only the proxy can.
	own := ""
	for _, server := range []struct {
		name, address string
		at            *string
		pki           *PKI
		password      string
	}{
		{"mirror", mirror, &r.Mirror, r.MirrorPKI, r.MirrorPassword},
		{"registry", "127.0.0.1:0", &own, r.PKI, ""},
	} {
		handler := registry.Empty()
		layer, err := registry.Layer(program, server.name)
		if err != nil {
			return nil, err
		}
		if err := registry.Push(ctx, handler, repository, tag, layer); err != nil {
			return nil, fmt.Errorf("push an image to the %s: %w", server.name, err)
		}
		if server.password != "" {
			handler = login(handler, MirrorUser, server.password)
		}
		handler = r.Requests.of(server.name, handler)
		if *server.at, err = serveTLS(handler, server.address, server.pki, proxiedHost); err != nil {
			return nil, err
		}
	}
	listener, err := net.Listen("tcp", proxy)
	if err != nil {
		return nil, err
	}
	r.Proxy = listener.Addr().String()
	handler := r.Requests.of("proxy", forwardProxy{proxiedHost + ":443": own})
	go http.Serve(listener, handler)
	if r.TLSProxy, err = serveTLS(handler, tlsProxy, r.ProxyPKI, proxiedHost); err != nil {
		return nil, err
	}
	return r, nil
}

// login accepts only a user with a password.
func login(handler http.Handler, user, password string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if u, p, _ := q.BasicAuth(); u != user || p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="images"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, q)
	})
}

// serveTLS serves at an address, with a certificate for the address and for names, and returns the address with its port.
func serveTLS(handler http.Handler, address string, pki *PKI, names ...string) (string, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	if err := pki.issue("server", host, "", append([]string{host}, names...)...); err != nil {
		return "", err
	}
	listener, err := shared.Listen(context.Background(), "tcp", address)
	if err != nil {
		return "", err
	}
	// A tunnel hijacks the connection, which HTTP/2 does not allow.
	server := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0), TLSNextProto: make(map[string]func(*http.Server, *tls.Conn, http.Handler))}
	go server.ServeTLS(listener, pki.Path("server.crt"), pki.Path("server.key"))
	return listener.Addr().String(), nil
}

// shared listens at one address of a port at which the API server listens at all others. The kernel gives a connection to the
// socket with its address (socket(7), SO_REUSEPORT).
var shared = net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
	var refused error
	err := c.Control(func(fd uintptr) { refused = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
	return cmp.Or(err, refused)
}}
