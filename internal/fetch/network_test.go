package fetch_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/fetch"
)

// network has servers in memory, by their URL, so that the test controls the time (testing/synctest). Their
// certificates are for every name.
type network struct {
	t         *testing.T
	mu        sync.Mutex
	listeners map[string]*listener
	requests  []string
	transport *http.Transport
}

// certificate is the certificate of all servers, and roots trust it.
var certificate, roots = func() (tls.Certificate, *x509.CertPool) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "servers"}, DNSNames: []string{"servers.test"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}()

func newNetwork(t *testing.T) *network {
	n := &network{t: t, listeners: make(map[string]*listener)}
	n.transport = &http.Transport{
		DialContext:        n.dial,
		TLSClientConfig:    &tls.Config{RootCAs: roots, ServerName: "servers.test"},
		DisableCompression: true,
	}
	t.Cleanup(n.transport.CloseIdleConnections)
	return n
}

// client is a client of this network.
func (n *network) client() *fetch.Client { return &fetch.Client{Transport: n.transport} }

// serve makes a handler answer at a URL, "https://host".
func (n *network) serve(at string, handler http.Handler) {
	u, err := url.Parse(at)
	if err != nil {
		n.t.Fatal(err)
	}
	l := &listener{conns: make(chan net.Conn), done: make(chan struct{})}
	var accepting net.Listener = l
	port := "80"
	if u.Scheme == "https" {
		port, accepting = "443", tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{certificate}})
	}
	server := &http.Server{ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.mu.Lock()
		n.requests = append(n.requests, r.Method+" "+at+r.URL.Path)
		n.mu.Unlock()
		handler.ServeHTTP(w, r)
	})}
	go func() { _ = server.Serve(accepting) }()
	n.t.Cleanup(func() { _ = server.Close() })
	if u.Port() != "" {
		port = u.Port()
	}
	n.listeners[net.JoinHostPort(u.Hostname(), port)] = l
}

// dial connects within the network. A missing host does not resolve.
func (n *network) dial(ctx context.Context, _, address string) (net.Conn, error) {
	l := n.listeners[address]
	if l == nil {
		host, _, _ := net.SplitHostPort(address)
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	client, server := newPipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// asked returns the requests since the last call.
func (n *network) asked() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.requests
	n.requests = nil
	return all
}

// listener accepts connections in memory.
type listener struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *listener) Addr() net.Addr { return memory }

// newFile is a file with some content.
func newFile(t testing.TB, holds []byte) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, holds, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// content is the file's present content.
func content(t testing.TB, f *os.File) string {
	t.Helper()
	data, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
