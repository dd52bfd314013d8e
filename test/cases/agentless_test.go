package cases

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/agentless"
	"github.com/slipway-dev/slipway/internal/bundle"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/rootfs"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// ofAgentless are the paths of files that only a node without an agent has.
var ofAgentless = []string{"/etc/slipway/blocks/", "/etc/systemd/system/slipway-setup.service", "/etc/systemd/system/kubelet.service.d/05-slipway.conf", "/etc/systemd/system/multi-user.target.wants/slipway-setup.service", "/etc/systemd/system/slipway-commands.service", "/etc/systemd/system/multi-user.target.wants/slipway-commands.service"}

// withoutAgent compares the provisioned node with a rendered one: every file, directory and link of the plan must be the same. If
// the case asks for it, the whole rendering is compared.
func (c *spec) withoutAgent(t *testing.T, dir, root string) {
	_, document := c.contract(t)
	read := compile.Read([]compile.Document{{Name: "contract", Data: document}}, "")
	planned, problems := read.Plan(c.facts(t))
	if document == nil || len(read.Fatal()) > 0 {
		t.Fatalf("it is provisioned, and cannot be planned: %v", problems)
	}
	machine := agentless.Of(planned, profile.OfDialect(read.Dialect))
	manifest, _, err := machine.Bundle("test", nil)
	if err != nil {
		t.Fatal(err)
	}
	nobodys := func(fs.FileInfo) (uid, gid int, ok bool) { return 0, 0, false }
	for _, d := range manifest.Verify(os.DirFS(root), nobodys) {
		if !slices.ContainsFunc(ofAgentless, func(place string) bool { return strings.HasPrefix(d.Path, place) }) {
			t.Errorf("%s of the provisioned node %s", d.Path, d.What)
		}
	}
	nothingAdded(t, manifest, root)
	if c.Agentless {
		c.rendered(t, dir, read)
	}
}

// nothingAdded checks that a new node has only the files of its manifest.
func nothingAdded(t *testing.T, manifest *bundle.Manifest, root string) {
	t.Helper()
	tree, err := rootfs.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	added, noted, err := manifest.Additions(tree, nil)
	if err != nil || len(added)+len(noted) > 0 {
		t.Errorf("additions %v, noted %v, %v", added, noted, err)
	}
}

// rendered compares the rendering for an image whose facts are known.
func (c *spec) rendered(t *testing.T, dir string, read *compile.Contract) {
	t.Helper()
	known := c.facts(t)
	if known.Instance != nil {
		known.Instance.ID = "" // it belongs to the machine on which the facts were gathered
	}
	planned, problems := read.PlanWithoutAgent(known)
	if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
		t.Fatal(fatal)
	}
	machine := agentless.Of(planned, profile.OfDialect(read.Dialect))
	manifest, documents, err := machine.Bundle("test", nil)
	if err != nil {
		t.Fatal(err)
	}
	if fatal := machine.Fatal(); len(fatal) > 0 {
		t.Error(fatal)
	}
	sealed, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, dir, "want.manifest.json", append(sealed, '\n'))
	var readable bytes.Buffer
	if err := json.Indent(&readable, documents["config.ign"], "", "  "); err != nil {
		t.Fatal(err)
	}
	golden(t, dir, "want.config.ign", readable.Bytes())
	golden(t, dir, "want.cloud-config.yaml", documents["cloud-config.yaml"])
}
