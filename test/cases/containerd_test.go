package cases

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/hosttest"
	"github.com/slipway-dev/slipway/test/nodetest"
)

// fetching is a directory to which components are downloaded from servers, as to a machine.
type fetching struct {
	*host.Directory
	machine *host.Machine
}

func (f fetching) Download(ctx context.Context, d *resource.Download, report func(how string)) (*apply.Origin, error) {
	return f.machine.Download(ctx, d, report)
}

// runtimeNode is a machine whose container runtime comes from a server.
type runtimeNode struct {
	t       *testing.T
	root    string
	server  *httptest.Server
	applied []resource.Resource
}

// ownContainerd is the image's own.
const ownContainerd = "of the image"

// provide makes the node of a contract that has the server's certificate and these artifacts.
func (n *runtimeNode) provide(artifacts string) error {
	n.t.Helper()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: n.server.Certificate().Raw})
	document := fmt.Sprintf("%strust: {certificates: [%q]}\n%s", read(n.t, filepath.Join(examples, "native/minimal.yaml")), certificate, artifacts)
	contract := compile.ReadOne("contract.yaml", []byte(document))
	plan, problems := contract.Plan((&spec{Facts: map[string]any{"components": []map[string]any{
		{"name": "containerd", "version": "1.7.28", "path": "/usr/bin/containerd"}, {"name": "kubelet", "version": "1.36.3", "path": "/usr/bin/kubelet"},
	}}}).facts(n.t))
	if fatal := append(contract.Fatal(), nodeconfig.Fatal(problems)...); len(fatal) > 0 {
		n.t.Fatal(fatal)
	}
	dir, err := host.OpenDirectory(n.root)
	if err != nil {
		n.t.Fatal(err)
	}
	defer dir.Close()
	engine := &apply.Engine{
		Host: fetching{dir, &host.Machine{Tree: dir.Tree}}, Now: nodetest.Ticking(), Log: slog.New(slog.DiscardHandler), Sequential: true, Stale: n.applied,
	}
	if _, err = engine.Apply(n.t.Context(), plan); err == nil {
		n.applied = plan.Resources
	}
	return err
}

// at is the node's path of a program of its container runtime.
func (n *runtimeNode) at(component string) string {
	for _, r := range n.applied {
		if d, ok := r.Spec.(*resource.Download); ok && d.Component == component {
			return d.Path(component)
		}
	}
	return "/usr/bin/" + component
}

// want checks that the node runs them, with a version of the configuration, and that the programs exist.
func (n *runtimeNode) want(when string, version int, programs map[string]string) {
	n.t.Helper()
	file := func(path string) string { return string(read(n.t, filepath.Join(n.root, path))) }
	unit, config := file("etc/systemd/system/containerd.service"), file("etc/containerd/config.toml")
	searched := strings.Contains(unit, "PATH="+filepath.Dir(n.at("containerd"))+":"+filepath.Dir(n.at("runc"))+":")
	if !strings.Contains(unit, "\nExecStart="+n.at("containerd")+"\n") || searched != (len(programs) > 0) {
		n.t.Errorf("%s: the unit is\n%s", when, unit)
	}
	if !strings.HasPrefix(config, fmt.Sprintf("version = %d\n", version)) || !strings.Contains(config, fmt.Sprintf("BinaryName = %q", n.at("runc"))) {
		n.t.Errorf("%s: the configuration is\n%s", when, config)
	}
	for path, content := range programs {
		if info, err := os.Stat(filepath.Join(n.root, path)); err != nil || info.Mode() != 0o755 || file(path) != content {
			n.t.Errorf("%s: %s is %q, %v", when, path, file(path), err)
		}
	}
	if got := file("usr/bin/containerd"); got != ownContainerd {
		n.t.Errorf("%s: the image's own is %q", when, got)
	}
}

// A contract's container runtime is downloaded from a server whose certificate is in the contract. If a later contract does not
// name it, the image's own runs again, and nothing of the image has changed. The downloaded one stays for a rollback.
func TestContainerRuntimeIsBrought(t *testing.T) {
	files := map[string][]byte{
		"/containerd-2.0.4-linux-amd64.tar.gz": archived(t, "bin/containerd", "bin/containerd-shim-runc-v2", "bin/ctr", "bin/containerd-stress"),
		"/v1.3.0/runc.amd64":                   []byte("\x7fELF runc"),
		"/containerd-2.0.5-linux-amd64.tar.gz": archived(t, "bin/containerd"),
	}
	var requests atomic.Int64
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.Write(files[r.URL.Path])
	}))
	defer server.Close()
	n := &runtimeNode{t: t, root: hosttest.TempDir(t), server: server}
	write(t, filepath.Join(n.root, "usr/bin/containerd"), []byte(ownContainerd))
	artifacts := fmt.Sprintf("components: {artifacts: {containerd: {url: %[1]s/containerd-2.0.4-linux-amd64.tar.gz}, runc: {url: %[1]s/v1.3.0/runc.amd64}}}\n", server.URL)
	if err := n.provide(artifacts); err != nil {
		t.Fatal(err)
	}
	programs := map[string]string{n.at("runc"): "\x7fELF runc"}
	for _, name := range []string{"containerd", "containerd-shim-runc-v2", "ctr"} {
		programs[filepath.Join(filepath.Dir(n.at("containerd")), name)] = "bin/" + name
	}
	n.want("brought", 3, programs)
	if err := n.provide(""); err != nil {
		t.Fatal(err)
	}
	n.want("undone", 2, nil)
	if err := n.provide(artifacts); err != nil || requests.Load() != 2 {
		t.Errorf("it was asked for %d times, %v; want once each", requests.Load(), err)
	}
	n.want("brought again", 3, programs)
	// A package without one of its programs changes nothing.
	err := n.provide(strings.ReplaceAll(artifacts, "2.0.4", "2.0.5"))
	if failed, ok := errors.AsType[*apply.Error](err); !ok || !strings.Contains(err.Error(), "containerd-shim-runc-v2") || failed.ExitCode != 28 {
		t.Errorf("a package without a shim: %v", err)
	}
	n.want("refused", 3, programs)
}

// archived is a compressed archive of programs, each with its name as content.
func archived(t *testing.T, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range names {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(name))}); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, name)
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
