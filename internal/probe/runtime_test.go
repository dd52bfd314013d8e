package probe

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/test/hosttest"
)

// grpcAnswer is a runtime's answer to one method.
type grpcAnswer struct {
	frame   []byte // nil for an answer with headers only
	status  string
	message string
}

var (
	isServing  = grpcAnswer{frame: []byte{0, 0, 0, 0, 2, 8, 1}, status: "0"}
	notServing = grpcAnswer{frame: []byte{0, 0, 0, 0, 2, 8, 2}, status: "0"}
	hasVersion = grpcAnswer{frame: append([]byte{0, 0, 0, 0, 9}, "\x0a\x070.1.0.0"...), status: "0"}
	unknown    = grpcAnswer{status: "12", message: "unknown service%0A x"}
)

// fakeRuntime is a container runtime at a socket. It does not answer methods that have no entry.
type fakeRuntime struct {
	mu      sync.Mutex
	answers map[string][]grpcAnswer // by method; the last one repeats
	calls   []string
}

func (f *fakeRuntime) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, err := io.ReadAll(r.Body)
	f.mu.Lock()
	if err != nil || r.ProtoMajor != 2 || r.Method != "POST" || r.Header.Get("Content-Type") != "application/grpc" ||
		r.Header.Get("Te") != "trailers" || !slices.Equal(request, make([]byte, 5)) {
		f.calls = append(f.calls, "a call without gRPC")
	}
	f.calls = append(f.calls, r.URL.Path)
	answers := f.answers[r.URL.Path]
	if len(answers) > 1 {
		f.answers[r.URL.Path] = answers[1:]
	}
	f.mu.Unlock()
	if len(answers) == 0 {
		never(r)
	}
	a := answers[0]
	w.Header().Set("Content-Type", "application/grpc")
	if a.frame == nil {
		w.Header().Set("Grpc-Status", a.status)
		w.Header().Set("Grpc-Message", a.message)
		return
	}
	w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
	w.Write(a.frame)
	w.Header().Set("Grpc-Status", a.status)
	w.Header().Set("Grpc-Message", a.message)
}

// listenUnix serves HTTP at a socket, HTTP/2 without TLS included.
func listenUnix(t *testing.T, handler http.Handler) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	must(t, err)
	server := &http.Server{Handler: handler, ErrorLog: quiet, Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return socket
}

// probeSocket probes for a minute.
func probeSocket(ctx context.Context, socket string) error {
	return wait(ctx, &resource.Check{
		Label: "runtime", Timeout: resource.Duration(time.Minute), RuntimeReady: &resource.RuntimeReady{Socket: socket},
	})
}

func TestRuntimeReady(t *testing.T) {
	for name, answers := range map[string]map[string][]grpcAnswer{
		"ready":            {healthMethod: {isServing}, versionMethod: {hasVersion}},
		"no health":        {healthMethod: {unknown}, versionMethod: {hasVersion}},
		"after a while":    {healthMethod: {notServing, isServing}, versionMethod: {unknown, hasVersion}},
		"an empty version": {healthMethod: {isServing}, versionMethod: {{frame: make([]byte, 5), status: "0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakeRuntime{answers: answers}
			must(t, probeSocket(t.Context(), listenUnix(t, f)))
			f.mu.Lock()
			defer f.mu.Unlock()
			if last := f.calls[len(f.calls)-1]; last != versionMethod || slices.Contains(f.calls, "a call without gRPC") {
				t.Errorf("calls are %q", f.calls)
			}
		})
	}
}

func TestRuntimeNotReady(t *testing.T) {
	runtime := func(answers map[string][]grpcAnswer) http.Handler { return &fakeRuntime{answers: answers} }
	health := func(a grpcAnswer) http.Handler { return runtime(map[string][]grpcAnswer{healthMethod: {a}}) }
	for name, test := range map[string]struct {
		handler http.Handler
		want    string
	}{
		"not serving":  {health(notServing), "is not serving"},
		"says nothing": {health(grpcAnswer{frame: make([]byte, 5), status: "0"}), "is not serving"},
		"no CRI": {runtime(map[string][]grpcAnswer{healthMethod: {isServing}, versionMethod: {unknown}}),
			"does not serve version v1 of the CRI: its CRI plug-in is disabled or failed to load: /runtime.v1.RuntimeService/Version returned gRPC status 12: unknown service x"},
		"not initialized": {runtime(map[string][]grpcAnswer{healthMethod: {isServing}, versionMethod: {{frame: []byte{}, status: "14", message: "server is not initialized yet"}}}),
			"gRPC status 14: server is not initialized yet"},
		"no status":  {health(grpcAnswer{frame: isServing.frame}), "has no gRPC status"},
		"damaged":    {health(grpcAnswer{frame: []byte{0, 0, 0, 1, 0, 8, 1}, status: "0"}), "is damaged"},
		"compressed": {health(grpcAnswer{frame: []byte{1, 0, 0, 0, 2, 8, 1}, status: "0"}), "is damaged"},
		"endless": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/grpc")
			for err := error(nil); err == nil; {
				_, err = w.Write(make([]byte, 1<<16))
			}
		}), "has more than 16379 bytes"},
		"no gRPC": {http.NotFoundHandler(), "is not a gRPC server: HTTP status 404"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := listenUnix(t, test.handler)
			synctest.Test(t, func(t *testing.T) {
				wantCheckError(t, probeSocket(t.Context(), socket), resource.CauseUnhealthy, socket, test.want)
				if took := time.Since(hosttest.Began); took > time.Minute {
					t.Errorf("took %s", took)
				}
			})
		})
	}
	missing := filepath.Join(t.TempDir(), "missing")
	synctest.Test(t, func(t *testing.T) {
		wantCheckError(t, probeSocket(t.Context(), missing), resource.CauseUnhealthy, missing, "no such file")
	})
	wantCheckError(t, probeSocket(t.Context(), "run/x"), resource.CauseUnhealthy, "absolute path")

	ctx := hosttest.NewTimed(t)
	silent := listenUnix(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		ctx.Over()
		never(r)
	}))
	wantCheckError(t, probeSocket(ctx, silent), resource.CauseUnhealthy, "does not answer")

	// It speaks another protocol, or hangs up.
	for _, said := range []string{"HTTP/1.1 400 Bad Request\r\n\r\n", ""} {
		socket := filepath.Join(t.TempDir(), "s")
		listener, err := net.Listen("unix", socket)
		must(t, err)
		defer listener.Close()
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				io.Copy(conn, strings.NewReader(said))
				conn.Close()
			}
		}()
		synctest.Test(t, func(t *testing.T) {
			wantCheckError(t, probeSocket(t.Context(), socket), resource.CauseUnhealthy, "does not answer")
		})
	}
}
