package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// connects returns the result of a connection request, by its number.
type connects = func(ctx context.Context, n int) (net.Conn, error)

// wire leads to a server in the same synctest bubble, so that the time advances while the test waits for it.
type wire struct {
	accepted chan net.Conn
	closed   chan struct{}
	close    sync.Once
	// connects, if any, is the result of the n-th connection request. If it returns neither a connection nor an error,
	// the connection is made.
	connects connects

	mu    sync.Mutex
	asked int
}

func newWire() *wire { return &wire{accepted: make(chan net.Conn), closed: make(chan struct{})} }

func (w *wire) Accept() (net.Conn, error) {
	select {
	case conn := <-w.accepted:
		return conn, nil
	case <-w.closed:
		return nil, net.ErrClosed
	}
}

func (w *wire) Close() error {
	w.close.Do(func() { close(w.closed) })
	return nil
}

func (w *wire) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 6443} }

func (w *wire) connect(ctx context.Context, _ []netip.Addr, _ string) (net.Conn, netip.AddrPort, error) {
	address := netip.MustParseAddrPort("127.0.0.1:6443")
	w.mu.Lock()
	w.asked++
	n := w.asked
	w.mu.Unlock()
	if w.connects != nil {
		if conn, err := w.connects(ctx, n); conn != nil || err != nil {
			return conn, address, err
		}
	}
	client, server := net.Pipe()
	select {
	case w.accepted <- server:
		return client, address, nil
	case <-w.closed:
		return nil, address, syscall.ECONNREFUSED
	}
}

// The behaviours of an unreachable server.
var (
	refuses = func(context.Context, int) (net.Conn, error) { return nil, syscall.ECONNREFUSED }
	loses   = func(ctx context.Context, _ int) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
	mute    = func(context.Context, int) (net.Conn, error) {
		client, server := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, server) }()
		return client, nil
	}
	// after lets the first connection succeed, and calls then for the later ones.
	after = func(then connects) connects {
		return func(ctx context.Context, n int) (net.Conn, error) {
			if n == 1 {
				return nil, nil
			}
			return then(ctx, n)
		}
	}
	// status answers a watch with an HTTP status.
	status = func(code int) func(*signer, io.Writer) bool {
		return func(_ *signer, w io.Writer) bool { w.(http.ResponseWriter).WriteHeader(code); return true }
	}
	// pending reports an unapproved request until the watch is over.
	pending = func(s *signer, w io.Writer) bool {
		says(s.event("ADDED", "", ""))(s, w)
		w.(http.Flusher).Flush()
		time.Sleep(watchSpan - time.Millisecond)
		return true
	}
	// breaks reports the same, and ends the connection.
	breaks = func(s *signer, w io.Writer) bool {
		says(s.event("ADDED", "", ""))(s, w)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	// dead reports the same, and then sends nothing.
	dead = reports("", nil)
	// lateApproval issues the certificate to the fifth watch.
	lateApproval = func(s *signer, w io.Writer) bool {
		if s.watched == 5 {
			return issued(s, w)
		}
		return pending(s, w)
	}
	// expiring rejects the token from the second watch on.
	expiring = func(s *signer, w io.Writer) bool {
		if s.watched >= 2 {
			return status(http.StatusUnauthorized)(s, w)
		}
		return pending(s, w)
	}
)

// How long the kubelet waits for its certificate alone: the rows of the table in certificatewait.go, each with
// everything else ready from the beginning, and after eight seconds.
func TestPatience(t *testing.T) {
	created := []int{http.StatusCreated}
	const second = time.Second
	for _, c := range []struct {
		name     string
		connects connects
		posts    []int
		watch    func(*signer, io.Writer) bool
		// atOnce is the wait if everything else is ready from the beginning, later if it is ready after eight seconds.
		atOnce, later time.Duration
		// cause is why the wait fails. Empty means that it succeeds.
		cause resource.Cause
	}{
		{name: "refuses connections", connects: refuses, cause: resource.CauseConnection},
		{name: "loses packets", connects: loses, atOnce: 2 * second, cause: resource.CauseConnection},
		{name: "says nothing in the handshake", connects: mute, atOnce: 2 * second, cause: resource.CauseConnection},
		{name: "does not answer the request", posts: []int{silence}, atOnce: 2 * second, cause: resource.CauseConnection},
		{name: "401", posts: []int{http.StatusUnauthorized}, cause: resource.CauseCredential},
		{name: "403", posts: []int{http.StatusForbidden}, atOnce: 2 * second, cause: resource.CauseForbidden},
		{name: "429", posts: []int{http.StatusTooManyRequests}, cause: resource.CauseConnection},
		{name: "500", posts: []int{http.StatusInternalServerError}, cause: resource.CauseConnection},
		{name: "503", posts: []int{http.StatusServiceUnavailable}, cause: resource.CauseConnection},
		{name: "accepts it, and it is approved late", posts: created, watch: lateApproval, atOnce: 20 * second, later: 12 * second},
		{name: "accepts it, and it stays unapproved", posts: created, watch: pending, atOnce: 120 * second, later: 112 * second, cause: resource.CauseUnapproved},
		{name: "takes it, and then 401", posts: created, watch: status(http.StatusUnauthorized), cause: resource.CauseCredential},
		{name: "takes it, and the token expires", posts: created, watch: expiring, atOnce: 5 * second, cause: resource.CauseCredential},
		{name: "takes it, and then 403", posts: created, watch: status(http.StatusForbidden), atOnce: 2 * second, cause: resource.CauseForbidden},
		{name: "takes it, and then 503", posts: created, watch: status(http.StatusServiceUnavailable), atOnce: 2 * second, cause: resource.CauseConnection},
		{name: "takes it, and is gone", posts: created, watch: breaks, connects: after(refuses), atOnce: 2 * second, cause: resource.CauseConnection},
		{name: "takes it, and loses packets", posts: created, watch: breaks, connects: after(loses), atOnce: 2 * second, cause: resource.CauseConnection},
		{name: "takes it, and hangs before the watch", posts: created, atOnce: 2 * second, later: second, cause: resource.CauseConnection},
		{name: "takes it, and hangs in the watch", posts: created, watch: dead, connects: after(loses), atOnce: 9 * second, later: second, cause: resource.CauseConnection},
	} {
		for at, want := range map[time.Duration]time.Duration{0: c.atOnce, 8 * second: c.later} {
			t.Run(fmt.Sprintf("%s, ready after %s", c.name, at), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					w := newWire()
					w.connects = c.connects
					s := &signer{posts: c.posts, watch: c.watch, shown: http.StatusOK}
					s.start(t, w)
					wanted := certificateOf(s)
					wanted.Patience = resource.Duration(120 * second)
					p := *defaultProber
					p.connect, p.firstDelay, p.maxDelay = w.connect, certificateDelay, maxCertificateDelay
					ready := make(chan struct{})
					time.AfterFunc(at, func() { close(ready) })
					begin := time.Now()
					synctest.Wait()
					_, err := p.certificate(t.Context(), wanted, ready, hostName)
					waited := max(time.Since(begin)-at, 0)
					if check, ok := errors.AsType[*apply.CheckError](err); ok != (c.cause != "") || ok && check.Cause != c.cause {
						t.Errorf("it ends with %v", err)
					}
					// Repeated attempts end with the last one before the limit.
					early := maxCertificateDelay
					if c.watch != nil {
						early = watchInterval + watchSpread
					}
					if waited > want+certificateDelay || waited < want-early {
						t.Errorf("it waits %s, not %s", waited, want)
					}
				})
			})
		}
	}
}
