package metadata_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/test/fakecloud"
)

const canary = "canary-0c4e"

// All tests have a proxy in their environment, which net/http reads once. Its address is in no network, and a call to
// it fails the test.
func TestMain(m *testing.M) {
	for _, name := range []string{"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"} {
		_ = os.Setenv(name, "http://192.0.2.1:3128")
	}
	for _, name := range []string{"no_proxy", "NO_PROXY"} {
		_ = os.Unsetenv(name)
	}
	os.Exit(m.Run())
}

// network has the listeners by address, in memory, so that the test controls the time (testing/synctest).
type network struct {
	t    *testing.T
	mu   sync.Mutex
	dial map[string]metadata.Dial
	// dialled are the dialed addresses, in order.
	dialled []string
}

func newNetwork(t *testing.T) *network {
	return &network{t: t, dial: make(map[string]metadata.Dial)}
}

// serve makes a handler answer at an address, on port 80.
func (n *network) serve(address string, handler http.Handler) {
	l := &listener{conns: make(chan net.Conn), done: make(chan struct{})}
	server := &http.Server{Handler: handler}
	go func() { _ = server.Serve(l) }()
	n.t.Cleanup(func() { _ = server.Close() })
	n.dial[net.JoinHostPort(address, "80")] = l.dial
}

// Dial connects within the network. A call to another address fails the test.
func (n *network) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	n.dialled = append(n.dialled, address)
	dial := n.dial[address]
	n.mu.Unlock()
	if dial == nil {
		n.t.Errorf("%s is called", address)
		return nil, net.ErrClosed
	}
	return dial(ctx, network, address)
}

// calls returns the addresses that were dialed since the last call.
func (n *network) calls() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.dialled
	n.dialled = nil
	return all
}

// listener accepts connections in memory.
type listener struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func (l *listener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *listener) Addr() net.Addr { return &net.TCPAddr{} }

// fails is an address that cannot be connected to.
func fails(err error) metadata.Dial {
	return func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
}

// silent is an address that neither accepts nor refuses a connection.
func silent(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// machine is a machine in a fake cloud.
var machine = fakecloud.Instance{
	Name: "node", ID: "i-0", Type: "m5.large", Region: "us-east-1", MAC: "52:54:00:00:00:01", Address: "10.0.0.4", Prefix: 24,
}

// simulated are the clouds whose services test/fakecloud has, and triedAlone those for which a test has a service.
var (
	simulated  = []string{"azure", "ec2"}
	triedAlone = make(map[string]bool)
)

func TestEveryCloudIsTried(t *testing.T) {
	for _, name := range metadata.Clouds() {
		if !slices.Contains(simulated, name) && !triedAlone[name] {
			t.Errorf("%s: no test asks its service; add it to simulated or triedAlone", name)
		}
	}
}

// served is a cloud's metadata, of a machine with the given user data, at its IPv4 address.
func served(t *testing.T, name, userData string) (*metadata.Service, *fakecloud.Cloud) {
	t.Helper()
	instance := machine
	instance.UserData = []byte(userData)
	cloud := fakecloud.New(instance)
	return asked(t, name, cloud.Metadata()), cloud
}

// asked is a cloud's metadata service with the test's handler.
func asked(t *testing.T, name string, handler http.Handler) *metadata.Service {
	t.Helper()
	n := newNetwork(t)
	n.serve(fakecloud.MetadataAddress, handler)
	n.dial[net.JoinHostPort(fakecloud.MetadataAddressIPv6, "80")] = fails(noRoute)
	return must(t, name, n.Dial)
}

func must(t *testing.T, name string, dial metadata.Dial) *metadata.Service {
	t.Helper()
	service, err := metadata.New(name, dial)
	if err != nil {
		t.Fatal(err)
	}
	return service
}

func misbehave(t *testing.T, cloud *fakecloud.Cloud, ways ...string) {
	t.Helper()
	if err := cloud.Misbehave(ways...); err != nil {
		t.Fatal(err)
	}
}
