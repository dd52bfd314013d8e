package probe

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/test/hosttest"
)

// shownNode is the API server's document of a Node.
func shownNode(ready, uuid string) string {
	return fmt.Sprintf(`{"kind":"Node","status":{"conditions":[{"type":"MemoryPressure","status":"False"},{"type":"Ready","status":%q}],"nodeInfo":{"systemUUID":%q}}}`, ready, uuid)
}

func TestFreeName(t *testing.T) {
	const own, other = "0f000000-0000-4000-8000-000000000001", "0f000000-0000-4000-8000-000000000002"
	for name, c := range map[string]struct {
		status int
		body   string
		uuid   string
		taken  bool
	}{
		"another machine":              {200, shownNode("True", other), own, true},
		"this machine":                 {200, shownNode("True", "0F000000-0000-4000-8000-000000000001"), own, false},
		"another that is not Ready":    {200, shownNode("Unknown", other), own, false},
		"another that was never Ready": {200, `{"kind":"Node","status":{"nodeInfo":{"systemUUID":"x"}}}`, own, false},
		"a Node without a UUID":        {200, shownNode("True", ""), own, false},
		"a machine without a UUID":     {200, shownNode("True", other), "", false},
		"no Node":                      {404, "{}", own, false},
		"not to be seen":               {403, shownNode("True", other), own, false},
		"refused":                      {401, "{}", own, false},
		"no Node at all":               {200, "<html>", own, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := hosttest.NewTimed(t)
			var requests atomic.Int32
			_, target := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if requests.Add(1) == 2 {
					ctx.Over() // during the second request
				}
				if r.URL.Path != "/api/v1/nodes/node-1" {
					t.Errorf("asked for %s", r.URL)
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			})
			way, read := nodeFiles(t, true, false)
			way.Server, way.CertificateAuthority = target.Server, target.CertificateAuthority
			err := impatient().probeFreeName(ctx, &resource.FreeName{AsNode: *way, Node: "node-1"}, read, c.uuid)
			if !c.taken {
				must(t, err)
				return
			}
			wantCheckError(t, err, resource.CauseForeign, "a Node node-1 that is Ready and of another machine", other)
		})
	}
}

// TestNameBecomesFree: the Node of a removed machine stays Ready for a while, and the probe waits for that.
func TestNameBecomesFree(t *testing.T) {
	var requests atomic.Int32
	_, target := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		ready := "True"
		if requests.Add(1) == 3 {
			ready = "Unknown"
		}
		_, _ = w.Write([]byte(shownNode(ready, "x")))
	})
	way, read := nodeFiles(t, true, false)
	way.Server, way.CertificateAuthority = target.Server, target.CertificateAuthority
	must(t, impatient().probeFreeName(t.Context(), &resource.FreeName{AsNode: *way, Node: "node-1"}, read, "y"))
	if requests.Load() != 3 {
		t.Errorf("asked %d times", requests.Load())
	}
}

// TestNameOfSilentServer: if the server is unreachable, the node still joins.
func TestNameOfSilentServer(t *testing.T) {
	server, target := serve(t, func(http.ResponseWriter, *http.Request) {})
	server.Close()
	way, read := nodeFiles(t, true, false)
	way.Server, way.CertificateAuthority = target.Server, target.CertificateAuthority
	ctx := hosttest.NewTimed(t)
	ctx.Over()
	must(t, impatient().probeFreeName(ctx, &resource.FreeName{AsNode: *way, Node: "node-1"}, read, "y"))
}

// TestNameWaitsForNetwork: while the machine has no network, the probe does not decide that the name is free.
func TestNameWaitsForNetwork(t *testing.T) {
	_, target := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(shownNode("True", "x"))) })
	way, read := nodeFiles(t, true, false)
	way.Server, way.CertificateAuthority = target.Server, target.CertificateAuthority
	for _, c := range []struct {
		without int // attempts without a network, two seconds each
		taken   bool
	}{{0, true}, {10, true}, {100, false}} {
		p, clock, attempts := impatient(), time.Unix(0, 0), 0
		ctx := hosttest.NewTimed(t)
		p.now = func() time.Time { return clock }
		connected := p.connect
		p.connect = func(dial context.Context, addresses []netip.Addr, port string) (net.Conn, netip.AddrPort, error) {
			clock = clock.Add(2 * time.Second)
			if attempts++; attempts <= c.without {
				return nil, netip.AddrPort{}, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ENETUNREACH)}
			}
			if attempts == c.without+2 {
				ctx.Over()
			}
			return connected(dial, addresses, port)
		}
		err := p.probeFreeName(ctx, &resource.FreeName{AsNode: *way, Node: "node-1"}, read, "y")
		if taken := err != nil; taken != c.taken {
			t.Errorf("without a network %d times, after %d attempts: %v", c.without, attempts, err)
		}
	}
}

// TestAnnotateNode: the Node gets the annotations when the kubelet has registered it.
func TestAnnotateNode(t *testing.T) {
	var requests atomic.Int32
	_, target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPatch || r.URL.Path != "/api/v1/nodes/node-1" || r.Header.Get("Content-Type") != "application/merge-patch+json" ||
			r.Header.Get("Authorization") != "" || string(body) != `{"metadata":{"annotations":{"a":"b"}}}` {
			t.Errorf("got %s %s %q", r.Method, r.URL, body)
		}
		if requests.Add(1) == 1 {
			w.WriteHeader(http.StatusNotFound)
		}
	})
	way, read := nodeFiles(t, true, true)
	way.Server, way.CertificateAuthority = target.Server, target.CertificateAuthority
	must(t, impatient().annotate(t.Context(), &resource.FreeName{AsNode: *way, Node: "node-1"}, read, map[string]string{"a": "b"}))
	if requests.Load() != 2 {
		t.Errorf("asked %d times", requests.Load())
	}
}
