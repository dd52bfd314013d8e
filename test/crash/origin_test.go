//go:build failpoint

package crash

import (
	"bytes"
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// wares are the servers' components, and the contract and the facts of a machine that downloads them.
type wares struct {
	// programs are the bytes of each program, by name.
	programs map[string][]byte
	// packages are the served files, by path.
	packages   map[string][]byte
	components []string
	contract   string
	facts      string
}

// The paths of the components on the servers.
const (
	kubernetesPlace = "kubernetes-node-linux-amd64.tar.gz"
	containerdPlace = "containerd-2.0.4-linux-amd64.tar.gz"
	runcPlace       = "runc"
)

func newWares(t *testing.T) *wares {
	t.Helper()
	p := map[string][]byte{
		"kubelet": program(300 << 10), "kubectl": program(3 << 10), "containerd": program(200 << 10), "containerd-shim-runc-v2": program(70 << 10), "runc": append([]byte("\x7fELF"), program(100<<10)...),
	}
	return &wares{
		programs: p,
		packages: map[string][]byte{
			kubernetesPlace: packed(t, map[string][]byte{"kubernetes/node/bin/kubelet": p["kubelet"], "kubernetes/node/bin/kubectl": p["kubectl"]}),
			containerdPlace: packed(t, map[string][]byte{"bin/containerd": p["containerd"], "bin/containerd-shim-runc-v2": p["containerd-shim-runc-v2"]}),
			runcPlace:       p["runc"], // it is not an archive
		},
		components: []string{"kubernetes", "containerd", "runc"},
		contract:   string(example(t, "native/minimal.yaml")),
		facts:      string(example(t, "facts/ubuntu.json")),
	}
}

// size is the number of bytes of all components.
func (w *wares) size() (n int64) {
	for _, data := range w.packages {
		n += int64(len(data))
	}
	return n
}

// origin is two servers, one by http and one by https; the second is also a registry.
type origin struct {
	*wares
	registry      registry
	plain, secure *httptest.Server
	// now is the service of the present or last run.
	now atomic.Pointer[service]
}

// service is what the servers do in one run.
type service struct {
	*disturbance
	// reached gets a value when the servers have sent the disturbance's number of bytes; released is closed when the run is over.
	reached, released chan struct{}

	mu sync.Mutex
	// told reports whether reached has got its value.
	told bool
	// given is the number of bytes of components that were sent, and begun the number of answers with them.
	given int64
	begun int
}

func newOrigin(w *wares) *origin {
	o := &origin{wares: w, registry: registry{archives: w.packages}}
	o.plain, o.secure = httptest.NewUnstartedServer(o), httptest.NewUnstartedServer(o)
	for _, server := range []*httptest.Server{o.plain, o.secure} {
		server.Config.ErrorLog = log.New(io.Discard, "", 0) // killed clients are expected
	}
	o.plain.Start()
	o.secure.StartTLS()
	return o
}

func (o *origin) close() {
	o.plain.Close()
	o.secure.Close()
}

// authority is the certificate of the CA that signed the https server's.
func (o *origin) authority() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: o.secure.Certificate().Raw}))
}

// artifacts is the contract's part that names the paths: one with a digest, one without, and one in a registry, whose manifest has
// the digest.
func (o *origin) artifacts() string {
	return fmt.Sprintf(`
components:
  artifacts:
    kubernetes: {url: "%s/%s", sha256: "%x", force: true}
    containerd: {url: "%s/%s", version: 2.0.4, force: true}
    runc: {url: "%s/tools/%s:v1.2.6", version: 1.2.6, force: true}
`, o.plain.URL, kubernetesPlace, sha256.Sum256(o.packages[kubernetesPlace]), o.secure.URL, containerdPlace, o.secure.Listener.Addr(), runcPlace)
}

// begin begins a run.
func (o *origin) begin(d *disturbance) *service {
	s := &service{disturbance: d, reached: make(chan struct{}, 1), released: make(chan struct{})}
	o.now.Store(s)
	return s
}

// given is the number of bytes of components that were sent in the last run.
func (o *origin) given() int64 {
	s := o.now.Load()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.given
}

// ServeHTTP implements [http.Handler].
func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := path.Base(r.URL.Path)
	data, found := o.packages[name]
	switch {
	case found:
		w.Header().Set("ETag", `"`+name+`"`)
		http.ServeContent(o.answer(w), r, "", time.Time{}, bytes.NewReader(data))
	case path.Base(path.Dir(r.URL.Path)) == "blobs":
		o.registry.ServeHTTP(o.answer(w), r)
	default:
		o.registry.ServeHTTP(w, r)
	}
}

// answer is an answer with a component.
type answer struct {
	http.ResponseWriter
	*service
	// left is the number of bytes after which the answer breaks off. Below 0 means never.
	left int64
}

func (o *origin) answer(w http.ResponseWriter) *answer {
	s := o.now.Load()
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &answer{w, s, -1}
	if s.begun < len(s.cuts) {
		a.left = s.cuts[s.begun]
	}
	s.begun++
	return a
}

// maxPiece is how much of one answer is sent before another one gets its turn.
const maxPiece = 16 << 10

// Write implements [io.Writer].
func (a *answer) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = a.piece(p[n:min(n+maxPiece, len(p))])
		n += m
	}
	return n, err
}

// piece sends some of p to the agent, unless the run's disturbance holds it back.
func (a *answer) piece(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.given >= a.after {
		if a.signal != 0 && !a.told {
			a.told = true
			a.reached <- struct{}{}
		}
		if a.holds {
			<-a.released
			panic(http.ErrAbortHandler)
		}
	} else {
		p = p[:min(int64(len(p)), a.after-a.given)]
	}
	if a.left == 0 {
		panic(http.ErrAbortHandler)
	}
	if a.left > 0 {
		p = p[:min(int64(len(p)), a.left)]
	}
	n, err := a.ResponseWriter.Write(p)
	a.given += int64(n)
	if a.left > 0 {
		a.left -= int64(n)
	}
	return n, errors.Join(err, http.NewResponseController(a.ResponseWriter).Flush())
}
