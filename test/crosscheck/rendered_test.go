//go:build crosscheck

package crosscheck

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/bundle"
)

// ignitionValidator is Ignition's own, and ignitionModule has the version that the virtual machines use.
const (
	ignitionValidator = "github.com/coreos/ignition/v2/validate"
	ignitionModule    = "../e2e/modules/ignition"
)

// rendered are the nodes without an agent that the cases render.
const rendered = "../cases/*/want.manifest.json"

// fileCommands are the commands of a rendering that make files. Their path arguments are within the tree.
var fileCommands = []string{"install", "mkdir", "ln"}

// TestRenderedNodes lets cloud-init itself write each node. The files must be those of the manifest, and so those of a node that
// the agent makes. Ignition reads the other form.
func TestRenderedNodes(t *testing.T) {
	manifests, err := filepath.Glob(rendered)
	if err != nil || len(manifests) < 15 { // each in two forms
		t.Fatalf("%d renderings: %v", len(manifests), err)
	}
	programs := t.TempDir()
	install := exec.Command("go", "install", ignitionValidator)
	install.Dir, install.Env = ignitionModule, append(os.Environ(), "GOBIN="+programs)
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, manifest := range manifests {
		dir := filepath.Dir(manifest)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			if out, err := exec.Command(filepath.Join(programs, "validate"), filepath.Join(dir, "want.config.ign")).CombinedOutput(); err != nil {
				t.Errorf("Ignition: %v: %s", err, out)
			}
			root := t.TempDir()
			layDown(t, filepath.Join(dir, "want.cloud-config.yaml"), root)
			data, err := os.ReadFile(manifest)
			if err != nil {
				t.Fatal(err)
			}
			var want bundle.Manifest
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			nobodys := func(fs.FileInfo) (uid, gid int, ok bool) { return 0, 0, false }
			for _, d := range want.Verify(os.DirFS(root), nobodys) {
				t.Errorf("%s as cloud-init writes it %s", d.Path, d.What)
			}
		})
	}
}

// layDown lets cloud-init write a document's files below a root, and runs the commands that make others.
func layDown(t *testing.T, document, root string) {
	t.Helper()
	cmd := exec.Command(python, "rendered.py", document, root)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("cloud-init: %v: %s", err, stderr.String())
	}
	var commands [][]string
	if err := json.Unmarshal(out, &commands); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, argv := range commands {
		if !slices.Contains(fileCommands, argv[0]) {
			continue
		}
		within := slices.Clone(argv[1:])
		for i, arg := range within {
			if target := argv[0] == "ln" && i == len(within)-2; strings.HasPrefix(arg, "/") && !target {
				within[i] = root + arg
			}
		}
		if out, err := exec.Command(argv[0], within...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v: %s", argv, err, out)
		}
	}
}
