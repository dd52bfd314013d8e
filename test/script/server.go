package script

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// server serves a directory over HTTPS, with a fault.
type server struct {
	dir string

	mu    sync.Mutex
	fault string
	// left is how many requests have the fault.
	left int
}

// servers is the key of a script's servers, by their names.
type servers struct{}

// serve starts a server of a directory: its URL is in the variable NAME, and programs trust it.
func serve(ts *testscript.TestScript, _ bool, args []string) {
	name, s := args[0], &server{dir: ts.MkAbs(args[1])}
	running := httptest.NewTLSServer(s)
	ts.Defer(running.Close)
	ts.Value(servers{}).(map[string]*server)[name] = s
	ts.Setenv(name, running.URL)
	certificate := ts.MkAbs("server.pem")
	ts.Check(os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: running.Certificate().Raw}), 0o600))
	ts.Setenv("SSL_CERT_FILE", certificate)
}

// fault lets a server's next answers fail: page, flip, half, busy, error, or none.
func fault(ts *testscript.TestScript, _ bool, args []string) {
	s := ts.Value(servers{}).(map[string]*server)[args[0]]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.left = args[1], 1<<30
	if len(args) > 2 {
		left, err := strconv.Atoi(args[2])
		ts.Check(err)
		s.left = left
	}
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	fault := ""
	if s.left > 0 {
		s.left--
		fault = s.fault
	}
	s.mu.Unlock()
	path := filepath.Join(s.dir, filepath.FromSlash(r.URL.Path))
	data, err := os.ReadFile(path)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	switch fault {
	case "page":
		_, _ = w.Write([]byte("<!doctype html><title>Log in</title>"))
	case "error":
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write([]byte("upstream is down"))
	case "flip":
		data[len(data)/2] ^= 1
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(data)
	case "half":
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(data[:len(data)/2])
	case "busy":
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusTooManyRequests)
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		http.ServeContent(w, r, "", timeless, strings.NewReader(string(data)))
	}
}

// machines are the bytes of a program's header that name its machine (ELF specification, e_machine).
var machines = map[string]string{"amd64": "\x3e\x00", "arm64": "\xb7\x00"}

// program makes a file that begins like a program for an architecture.
func program(ts *testscript.TestScript, _ bool, args []string) {
	path, machine := ts.MkAbs(args[0]), machines[args[1]]
	if machine == "" {
		ts.Fatalf("no architecture %q", args[1])
	}
	text := "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x02\x00" + machine + strings.Join(args[2:], " ") + "\n"
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	ts.Check(os.WriteFile(path, []byte(text), 0o755))
}

// digests counts the files of a cache, and wants each to have the digest of its name, and nothing beside them.
func digests(ts *testscript.TestScript, _ bool, args []string) {
	names, err := filepath.Glob(ts.MkAbs(args[0]) + "/blobs/sha256/*")
	ts.Check(err)
	for _, name := range names {
		if got := sumOf(ts, name); got != filepath.Base(name) {
			ts.Fatalf("%s has the digest %s", name, got)
		}
	}
	if want := args[1]; fmt.Sprint(len(names)) != want {
		ts.Fatalf("%s has %d files, want %s", args[0], len(names), want)
	}
}
