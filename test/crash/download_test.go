//go:build failpoint

package crash

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/resource"
)

// bringing is a directory that accepts components as a machine does.
type bringing struct{ *host.Directory }

func (b bringing) Download(ctx context.Context, d *resource.Download, report func(string)) (*apply.Origin, error) {
	return (&host.Machine{Tree: b.Tree}).Download(ctx, d, report)
}

// programs are the registry's programs: repository names and sizes. The kubelet comes in several pieces.
var programs = map[string]int{"kubelet": 100 << 10, "kubectl": 1 << 10}

// brought is the first provisioning of a machine without a kubelet. It gets kubelet and kubectl from the registry of an air-gapped
// cluster, whose manifests have their digests. An interrupted download is resumed.
func brought(t *testing.T) *scenario {
	t.Helper()
	registry := newRegistry(t)
	server := httptest.NewTLSServer(registry)
	t.Cleanup(server.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	s := &scenario{name: "downloads", facts: ubuntu(t), brings: true, base: tree{}}
	s.deliver(t, edited(t, "aks/minimal.json", map[string]any{
		"kubernetes_version": "1.33.1",
		"auth_config":        map[string]any{},
		"bootstrap_profile_container_registry_server": server.Listener.Addr().String(),
		"custom_ca_certs": []string{base64.StdEncoding.EncodeToString(authority)},
	}))
	s.learn(t)
	var stores, pieces int
	for _, r := range s.plan.Resources {
		if d, ok := r.Spec.(*resource.Download); ok && s.want[d.Path(d.Component)].content == string(registry.programs[d.Component]) {
			stores++
		}
	}
	for _, e := range s.events {
		if isPart(e.Path) && e.Kind == "write" {
			pieces++
		}
	}
	if stores != len(programs) || pieces <= len(programs) {
		t.Fatalf("%d components have come, in %d pieces", stores, pieces)
	}
	return s
}

// isPart reports whether a path is a component's partial download.
func isPart(at string) bool {
	return strings.HasPrefix(at, resource.Downloads+"/") && path.Base(at) == "part"
}

// registry serves each program as an archive, by its digest, below the name that ends with the program's.
type registry struct {
	programs map[string][]byte
	archives map[string][]byte
}

func newRegistry(t *testing.T) registry {
	t.Helper()
	r := registry{map[string][]byte{}, map[string][]byte{}}
	for name, size := range programs {
		r.programs[name] = program(size)
		r.archives[name] = packed(t, map[string][]byte{"kubernetes/node/bin/" + name: r.programs[name]})
	}
	return r
}

// program is a program with a number of bytes. Each size has different bytes.
func program(size int) []byte {
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(size), byte(size >> 8), byte(size >> 16)}).Read(content)
	return content
}

// packed returns an archive of programs.
func packed(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		errs = append(errs, w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(files[name]))}))
		_, err := w.Write(files[name])
		errs = append(errs, err)
	}
	if err := errors.Join(append(errs, w.Close(), z.Close())...); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (r registry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	repository, version, isManifest := strings.Cut(request.URL.Path, "/manifests/")
	if !isManifest {
		repository, version, _ = strings.Cut(request.URL.Path, "/blobs/")
	}
	archive, found := r.archives[path.Base(repository)]
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(archive))
	switch {
	case found && isManifest:
		document, _ := json.Marshal(map[string]any{"schemaVersion": 2, "layers": []any{map[string]any{"digest": digest, "size": len(archive)}}})
		w.Write(document)
	case found && version == digest:
		http.ServeContent(w, request, "", time.Time{}, bytes.NewReader(archive))
	default:
		http.NotFound(w, request)
	}
}

// If a download dies at any write, the next run resumes it and requests only the rest.
func TestDownloadIsResumed(t *testing.T) {
	s := brought(t)
	c := begin(t, "a download is resumed")
	for at, e := range s.events {
		if !isPart(e.Path) || e.Kind != "write" {
			continue
		}
		for _, when := range []moment{before, within, after} {
			c.point(fmt.Sprintf("%s %d", when, at), s.resumed(death{at, when}))
		}
	}
	c.end()
}

// resumed checks that a run writes exactly the bytes of a part that a dead run has not written.
func (s *scenario) resumed(d death) error {
	n, err := s.node()
	if err != nil {
		return err
	}
	defer n.remove()
	n.provision(&session{death: d})
	left, err := snapshot(n.root)
	if err != nil {
		return err
	}
	part := s.events[d.at].Path
	next := &session{death: death{at: -1}}
	n.provision(next)
	whole, written := 0, 0
	for _, e := range s.events {
		if e.Path == part {
			whole += len(e.Data)
		}
	}
	for _, e := range next.events {
		if e.Path == part {
			written += len(e.Data)
		}
	}
	if want := whole - len(left[part].content); written != want {
		return fmt.Errorf("%d bytes of %s are written, want %d", written, part, want)
	}
	return n.converged()
}
