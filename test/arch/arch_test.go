package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/slipway-dev/slipway/"

// pkg is a package as `go list` describes it.
type pkg struct {
	ImportPath string
	Dir        string
	Doc        string
	Imports    []string
	Deps       []string
}

func (p pkg) name() string { return strings.TrimPrefix(p.ImportPath, module) }

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps=false", "-json=ImportPath,Dir,Doc,Imports,Deps", module+"...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var list []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

// layers are the packages in the order of the data's path. A package imports only packages in its own layer or further down. Each
// is a row of the table of packages in docs/architecture.md.
var layers = func() (rows [][]string) {
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		panic(err)
	}
	_, table, _ := strings.Cut(string(text), "\n| package | what it does |\n")
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			return rows // the table's end
		}
		var row []string
		for i, part := range strings.Split(cells[1], "`") {
			if i%2 == 1 {
				row = append(row, part)
			}
		}
		rows = append(rows, row)
	}
	return rows
}()

// outside are packages that are in neither binary.
var outside = []string{"test/", "api/aksnodeconfig/gen", "api/aksnodeconfig/protos", "schema/gen", "internal/kubeletapi/gen", "internal/containerdapi/gen", "capacity/gen"}

func isOutside(name string) bool {
	return slices.ContainsFunc(outside, func(o string) bool { return name == o || strings.HasSuffix(o, "/") && strings.HasPrefix(name, o) })
}

func layerOf(name string) int {
	return slices.IndexFunc(layers, func(l []string) bool { return slices.Contains(l, name) })
}

func TestImportsGoDown(t *testing.T) {
	known := packages(t)
	for _, name := range slices.Concat(layers...) {
		if !slices.ContainsFunc(known, func(p pkg) bool { return p.name() == name }) {
			t.Errorf("docs/architecture.md has %s in its table, and there is no such package", name)
		}
	}
	for _, p := range known {
		if isOutside(p.name()) {
			continue
		}
		own := layerOf(p.name())
		if own < 0 {
			t.Errorf("%s is not in the table of docs/architecture.md, which has the packages in the order of their imports", p.name())
			continue
		}
		for _, imported := range p.Imports {
			name, ours := strings.CutPrefix(imported, module)
			if !ours {
				continue
			}
			if layer := layerOf(name); layer < own || isOutside(name) {
				t.Errorf("%s imports %s, which stands above it", p.name(), name)
			}
		}
	}
}

// forbidden has the only packages that may import a package, with the reason.
var forbidden = []struct {
	imports, reason string
	only            []string
}{
	{"os/exec", "only internal/host runs programs", []string{"internal/host", "internal/image/build"}}, // internal/image/build runs mkosi, on a workstation
	{"golang.org/x/sys/unix", "only internal/host, and what it is made of, touches the machine", []string{"internal/host", "internal/rootfs", "internal/systemd"}},
	{"github.com/coreos/go-systemd/v22/dbus", "internal/systemd talks to D-Bus itself, over one connection that it closes", nil},
	{"github.com/godbus/dbus/v5", "only internal/systemd talks to D-Bus", []string{"internal/systemd"}},
	{module + "internal/rootfs", "the machine is touched through internal/host", []string{"internal/host", "internal/probe", "cmd/slipway", "internal/image/bake", "internal/image/cache", "internal/image/download", "internal/image/fault"}}, // cmd/slipway reads the tree that it verifies, and internal/image keeps files on a workstation
	{module + "internal/systemd", "the machine is touched through internal/host", []string{"internal/host", "internal/probe"}},
	{module + "internal/probe", "the machine is touched through internal/host", []string{"internal/host"}},
	{"math/rand", "nothing on a node is left to chance", []string{"launch/azure"}}, // AKS makes a cluster's ID with it, from a seed
	{"math/rand/v2", "nothing on a node is left to chance", nil},
	{"text/template", "text that is made by templates is text that values can break", nil},
	{"html/template", "text that is made by templates is text that values can break", nil},
}

func TestForbiddenImports(t *testing.T) {
	for _, p := range packages(t) {
		if isOutside(p.name()) {
			continue
		}
		for _, f := range forbidden {
			if slices.Contains(p.Imports, f.imports) && !slices.Contains(f.only, p.name()) {
				t.Errorf("%s imports %s: %s", p.name(), f.imports, f.reason)
			}
		}
	}
}

// pure are the packages that do no I/O and read no clock and no environment, together with all of their dependencies in this
// module.
var pure = []string{
	"internal/aksnodeconfig", "nodeconfig", "nodeconfig/aks", "nodeconfig/dialect", "internal/document", "internal/compile", "internal/containerdapi", "internal/kubeletapi", "internal/place", "internal/plan", "internal/plan/azure", "internal/plan/concern", "internal/plan/dnscache", "internal/plan/gpu", "internal/plan/gpusize", "internal/plan/join", "internal/plan/kubelet", "internal/plan/kubeletsetting", "internal/plan/machine", "internal/plan/network", "internal/plan/runtime", "internal/plan/setting", "internal/plan/system", "internal/plan/textfile",
	"internal/packed", "internal/problem", "internal/profile", "internal/distro", "internal/quantity", "internal/versions", "internal/resource",
	"internal/facts", "userdata", "components", "exitcode", "status", "capacity", "launch", "launch/azure", "launch/bootstraptoken", "launch/report", "internal/cse", "internal/akstext", "node", "internal/agentless", "internal/cloudconfig", "internal/ignition", "internal/image/ability", "internal/image/changes", "internal/image/kind", "internal/image/lock", "internal/image/spec", "internal/supportbundle", "internal/anatomy", "internal/anatomy/record", "internal/anatomy/svg", "internal/anatomy/gathered",
}

// impure are packages that a pure package must not import.
var impure = []string{"os", "os/exec", "net", "net/http", "io/ioutil", "syscall", "crypto/rand"}

func TestPurePackages(t *testing.T) {
	for _, p := range packages(t) {
		if !slices.Contains(pure, p.name()) {
			continue
		}
		for _, i := range impure {
			if slices.Contains(p.Imports, i) && !(p.name() == "nodeconfig" && i == "net") { // net.SplitHostPort
				t.Errorf("%s imports %s, and it is to be pure", p.name(), i)
			}
		}
	}
}

// sdks are modules that no package may depend on, so that a program that imports one of our packages gets neither Kubernetes nor a
// cloud with it.
var sdks = []string{"k8s.io/", "sigs.k8s.io/", "github.com/Azure/", "github.com/aws/"}

// signers are the packages with the only exception, AWS's signer of requests. They import only signer from that SDK.
var (
	signers = []string{"internal/ekstoken", "cmd/slipway-node"}
	signer  = []string{"github.com/aws/aws-sdk-go-v2/aws", "github.com/aws/aws-sdk-go-v2/aws/signer/v4"}
)

func TestNoSDK(t *testing.T) {
	for _, p := range packages(t) {
		for _, d := range p.Deps {
			if isOutside(p.name()) || !slices.ContainsFunc(sdks, func(s string) bool { return strings.HasPrefix(d, s) }) {
				continue
			}
			if !slices.Contains(signers, p.name()) || !strings.HasPrefix(d, "github.com/aws/") || slices.Contains(p.Imports, d) && !slices.Contains(signer, d) {
				t.Errorf("%s depends on %s", p.name(), d)
			}
		}
	}
}

func TestEveryPackageIsDocumented(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.Doc) < 40 {
			t.Errorf("%s has no package doc that describes what it does, what it does not do and which code calls it", p.name())
		}
	}
}

// drawers are names under which any code would fit.
var drawers = []string{"util", "utils", "common", "helper", "helpers", "misc", "shared"}

func TestNoDrawers(t *testing.T) {
	for _, p := range packages(t) {
		for element := range strings.SplitSeq(p.name(), "/") {
			if slices.Contains(drawers, element) {
				t.Errorf("%s is named like a drawer; name it after its subject", p.name())
			}
		}
	}
}

// TestOtherSystems: slipway also runs where people write contracts. What uses Linux's system calls is not linked into it there.
func TestOtherSystems(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./cmd/slipway")
	cmd.Dir, cmd.Env = "../..", append(os.Environ(), "GOOS=darwin", "GOARCH=arm64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	linked := strings.Fields(string(out))
	for _, name := range []string{"internal/host", "internal/rootfs", "internal/systemd"} {
		if slices.Contains(linked, module+name) {
			t.Errorf("on darwin, cmd/slipway links %s: the file that imports it needs the build constraint linux (onlinux.go)", name)
		}
	}
}
