package registry

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

const (
	configType = "application/vnd.oci.image.config.v1+json"
	tools      = "tools/runc"
	pause      = "pause"
)

// program is the beginning of a program for an architecture.
func program(architecture, text string) []byte {
	machine := map[string]string{"amd64": "\x3e\x00", "arm64": "\xb7\x00"}[architecture]
	return append([]byte("\x7fELF\x02\x01\x01"+strings.Repeat("\x00", 9)+"\x02\x00"+machine), bytes.Repeat([]byte(text), 9000)...)
}

// tool pushes an artifact with a program for each architecture.
func (s *server) tool(tag string) {
	config := s.blob(tools, emptyType, []byte("{}"))
	var all []descriptor
	for _, architecture := range []string{"amd64", "arm64"} {
		layer := s.blob(tools, layerType, program(architecture, tag))
		d := s.manifest(tools, "", manifestType, map[string]any{"config": config, "layers": []descriptor{layer}})
		d.Platform = map[string]string{"os": "linux", "architecture": architecture}
		all = append(all, d)
	}
	s.manifest(tools, tag, indexType, map[string]any{"manifests": all})
}

// image pushes a container image: an index of two platforms with one common layer, and returns the index's digest.
func (s *server) image(tag, text string) string {
	common := s.blob(pause, layerType, bytes.Repeat([]byte("common"), 20_000))
	var all []descriptor
	for _, architecture := range []string{"amd64", "arm64"} {
		config := s.blob(pause, configType, encoded(map[string]string{"os": "linux", "architecture": architecture, "author": text}))
		own := s.blob(pause, layerType, program(architecture, text))
		d := s.manifest(pause, "", manifestType, map[string]any{"config": config, "layers": []descriptor{common, own}})
		d.Platform = map[string]string{"os": "linux", "architecture": architecture}
		all = append(all, d)
	}
	return s.manifest(pause, tag, indexType, map[string]any{"manifests": all}).Digest
}

// workstation is a directory with a components.yaml, in which the program slipway runs.
type workstation struct {
	t              *testing.T
	dir            string
	trust, address string
	// env are variables of the program's environment.
	env []string
}

// built is the program slipway.
var built string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	built = filepath.Join(dir, "slipway")
	build := exec.Command("go", "build", "-o", built, "./cmd/slipway")
	build.Dir, build.Stderr = "../..", os.Stderr
	code := 1
	if build.Run() == nil {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func newWorkstation(t *testing.T, s *server) *workstation {
	t.Helper()
	w := &workstation{t: t, dir: t.TempDir(), address: s.Host}
	w.trust = filepath.Join(w.dir, "trust.pem")
	w.write("trust.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.http.Certificate().Raw})))
	w.write("components.yaml", strings.ReplaceAll(components, "REGISTRY", s.Host))
	return w
}

const components = `
apiVersion: slipway.dev/v1
kind: ImageComponents
architectures: [amd64, arm64]
components:
- name: runc
  version: ~1.4
  sources: ["REGISTRY/tools/runc:v{version}"]
- name: pause
  kind: image
  version: "3.10"
  license: Apache-2.0
  sources: ["REGISTRY/pause:{version}"]
`

func (w *workstation) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *workstation) read(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// run runs slipway image, and returns its output.
func (w *workstation) run(code int, args ...string) string {
	w.t.Helper()
	cmd := exec.Command(built, append([]string{"image"}, args...)...)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+w.trust, "HTTPS_PROXY=", "https_proxy=", "HOME="+w.dir, "DOCKER_CONFIG=", "REGISTRY_AUTH_FILE=", "XDG_RUNTIME_DIR=")
	cmd.Env = append(cmd.Env, w.env...)
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code {
		w.t.Fatalf("%s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, out)
	}
	return string(out)
}

// blobs counts the files of a cache.
func (w *workstation) blobs(cache string) int {
	w.t.Helper()
	names, err := filepath.Glob(filepath.Join(w.dir, cache, "blobs/sha256/[0-9a-f]*"))
	if err != nil {
		w.t.Fatal(err)
	}
	return len(names)
}

// wanted are two programs, and of the image an index, two manifests, two configs, two layers and a common one.
const wanted = 2 + 1 + 2 + 2 + 3

// A lock takes versions from a registry's tags, and a fetch brings what the lock names, although the tags have moved since.
func TestImageFromRegistry(t *testing.T) {
	s := newServer(t)
	s.Anonymous = true
	for _, tag := range []string{"v1.3.9", "v1.4.0", "v1.4.2", "v1.4.10", "v1.4.11-rc.1", "v1.5.0", "latest"} {
		s.tool(tag)
	}
	digest := s.image("3.10", "first")
	w := newWorkstation(t, s)
	out := w.run(0, "lock", "--cache", "c")
	lock := w.read("components.lock")
	for _, part := range []string{"version: 1.4.10\n", s.Host + "/tools/runc:v1.4.10\n", "digest: " + digest + "\n", "path: /usr/sbin/runc\n"} {
		if !strings.Contains(lock, part) {
			t.Errorf("the lock does not have %q:\n%s", part, lock)
		}
	}
	if strings.Contains(out, "note") {
		t.Errorf("a registry's manifest has the digest: %s", out)
	}
	w.run(0, "fetch", "--cache", "c")
	if n := w.blobs("c"); n != wanted {
		t.Errorf("the cache has %d files, want %d", n, wanted)
	}
	if out := w.run(0, "fetch", "--cache", "c", "--offline"); !strings.Contains(out, "nothing was missing") {
		t.Error(out)
	}
	w.run(0, "fetch", "--cache", "other", "--offline", "--from", "c")
	if n := w.blobs("other"); n != wanted {
		t.Errorf("the second cache has %d files, want %d", n, wanted)
	}
	s.image("3.10", "second")
	w.run(0, "fetch", "--cache", "c2", "--architecture", "arm64")
	if n := w.blobs("c2"); n != 1+1+1+1+2 {
		t.Errorf("the cache for one architecture has %d files", n)
	}
	if out := w.run(0, "lock", "--cache", "c"); !strings.Contains(out, "up to date") {
		t.Error(out)
	}
	w.write("old.lock", lock)
	w.run(0, "lock", "--cache", "c", "--update", "pause")
	if out := w.run(1, "diff", "old.lock", "components.lock"); !strings.Contains(out, "Replaced, with the same version") || strings.Contains(out, "runc") {
		t.Error(out)
	}
}

// faulty answers a registry's requests for blobs wrongly.
type faulty struct {
	http.Handler
	fault atomic.Pointer[string]
	times atomic.Int32
}

func (f *faulty) set(fault string, times int32) {
	f.times.Store(times)
	f.fault.Store(&fault)
}

func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := f.fault.Load()
	if fault == nil || !strings.Contains(r.URL.Path, "/blobs/") || r.Method != http.MethodGet || r.Header.Get("Authorization") == "" || f.times.Add(-1) < 0 {
		f.Handler.ServeHTTP(w, r)
		return
	}
	switch *fault {
	case "page":
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>Log in</title>"))
		return
	case "busy":
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	f.Handler.ServeHTTP(&spoiled{ResponseWriter: w, fault: *fault}, r)
}

// spoiled is an answer whose body is spoiled.
type spoiled struct {
	http.ResponseWriter
	fault string
	n     int
}

func (s *spoiled) Write(data []byte) (int, error) {
	begin := s.n
	s.n += len(data)
	switch {
	case s.fault == "half" && s.n > 30_000:
		_, _ = s.ResponseWriter.Write(data[:max(0, min(len(data), 30_000-begin))])
		panic(http.ErrAbortHandler)
	case s.fault == "flip" && begin == 0:
		data = bytes.Clone(data)
		data[len(data)/2] ^= 1
	}
	return s.ResponseWriter.Write(data)
}

// With faults between, a fetch ends with right files, or with an error that names the component, and the cache has no wrong file.
func TestFaultsBetween(t *testing.T) {
	s := newServer(t)
	s.Anonymous = true
	between := &faulty{Handler: s.http.Config.Handler}
	s.http.Config.Handler = between
	s.tool("v1.4.0")
	s.image("3.10", "first")
	w := newWorkstation(t, s)
	w.run(0, "lock", "--cache", "c")
	for i, c := range []struct {
		fault string
		times int32
		code  int
	}{
		{"busy", 1, 0}, {"half", 1, 0}, {"half", 3, 0}, {"page", 1 << 20, 1}, {"flip", 1 << 20, 1},
	} {
		between.set(c.fault, c.times)
		cache := fmt.Sprintf("c%d", i)
		out := w.run(c.code, "fetch", "--cache", cache)
		between.set("", 0)
		if c.code == 0 && w.blobs(cache) != wanted {
			t.Errorf("%s: %d files", c.fault, w.blobs(cache))
		}
		if c.code != 0 && (!strings.Contains(out, "error: runc amd64: ") || !strings.Contains(out, "error: pause arm64: ") || w.blobs(cache) > 3) {
			t.Errorf("%s: %d files\n%s", c.fault, w.blobs(cache), out)
		}
		w.run(0, "fetch", "--cache", cache)
		if n := w.blobs(cache); n != wanted {
			t.Errorf("%s: afterwards %d files", c.fault, n)
		}
	}
	var result struct {
		Problems []struct{ Path, Reason string }
	}
	between.set("page", 1<<20)
	out := w.run(1, "fetch", "--cache", "c9", "-o", "json")
	if err := json.Unmarshal([]byte(out[strings.LastIndex(out, "\n{")+1:]), &result); err != nil || len(result.Problems) != 4 || result.Problems[0].Path != "pause" {
		t.Errorf("%v: %s", err, out)
	}
}
