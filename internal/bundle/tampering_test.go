package bundle_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/internal/agentless"
	"github.com/slipway-dev/slipway/internal/bundle"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/integrity"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/rootfs"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/hosttest"
	"github.com/slipway-dev/slipway/test/tampering"
)

// rendered is a bundle of the node that is tampered with.
func rendered(t *testing.T) (m *bundle.Manifest, dir string) {
	t.Helper()
	minimal, err := os.ReadFile("../../examples/native/minimal.yaml")
	if err != nil {
		t.Fatal(err)
	}
	contract := compile.Read([]compile.Document{{Name: "minimal", Data: minimal}, {Name: "tampering", Data: []byte(tampering.Contract)}}, "")
	planned, problems := contract.PlanWithoutAgent(facts.Facts{})
	if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
		t.Fatal(fatal)
	}
	machine := agentless.Of(planned, profile.OfDialect(contract.Dialect))
	m, documents, err := machine.Bundle("test", nil)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "bundle")
	if err := bundle.Write(dir, m, documents); err != nil {
		t.Fatal(err)
	}
	// What a reader of the bundle knows.
	if m, err = bundle.Read(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return m, dir
}

func open(t *testing.T, root string) integrity.Files {
	t.Helper()
	tree, err := rootfs.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return tree
}

func TestVerifySeesTampering(t *testing.T) {
	m, dir := rendered(t)
	image, cases := tampering.Read(t)
	pristine := hosttest.TempDir(t)
	image.Apply(t, pristine)
	root := tampering.Copy(t, pristine)
	tampering.CopyTo(t, filepath.Join(dir, bundle.Tree), root)
	for _, c := range append(cases, tampering.Case{Name: "none", Verify: "quiet"}) {
		t.Run(c.Name, func(t *testing.T) {
			tree := tampering.Copy(t, root)
			c.Apply(t, tree)
			owner := func(info fs.FileInfo) (uid, gid int, ok bool) {
				stat := info.Sys().(*syscall.Stat_t)
				return int(stat.Uid), int(stat.Gid), os.Geteuid() == 0
			}
			added, noted, err := m.Additions(open(t, tree), nil)
			if err != nil {
				t.Fatal(err)
			}
			differences := append(m.Verify(os.DirFS(tree), owner), added...)
			if got := verdict(differences, noted, c.At); got != c.Verify {
				t.Errorf("%s, want %s: %v, noted %v", got, c.Verify, differences, noted)
			}
			// With the image, more is compared: what the agent sees.
			if c.Drift == "" {
				return
			}
			added, noted, err = m.Additions(open(t, tree), open(t, pristine))
			if err != nil {
				t.Fatal(err)
			}
			differences = append(m.Verify(os.DirFS(tree), owner), added...)
			if got := verdict(differences, noted, c.At); (got == "seen") != (c.Drift != "quiet") {
				t.Errorf("with the image: %s, want %s: %v, noted %v", got, c.Drift, differences, noted)
			}
		})
	}
}

// verdict is what is made of a path, and of nothing else: seen, noted or quiet.
func verdict(differences, noted []bundle.Difference, at string) string {
	is := func(d bundle.Difference) bool { return d.Path == at }
	switch {
	case slices.ContainsFunc(differences, is):
		return "seen"
	case len(differences) > 0:
		return "another difference"
	case slices.ContainsFunc(noted, is):
		return "noted"
	}
	return "quiet"
}
