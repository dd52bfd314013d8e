package seal_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/signature"
	"github.com/slipway-dev/slipway/release/licence"
	"github.com/slipway-dev/slipway/release/seal"
)

// TestSign: what the test keys have signed is verified by their list, and the same list has the same signatures.
func TestSign(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed")
	}
	var before [2]string
	for range 2 {
		scratch, dir := t.TempDir(), t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, release.SumsName), release.FormatSums([]release.Sum{{
			Name: "a", SHA256: "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
		}}), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a"), []byte("a"), 0o644); err != nil {
			t.Fatal(err)
		}
		keys, err := seal.TestKeys(scratch)
		if err != nil {
			t.Fatal(err)
		}
		if err := seal.Sign(t.Context(), dir, keys); err != nil {
			t.Fatal(err)
		}
		allowed, err := signature.ParseSigners(seal.Signers(keys))
		if err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		r, err := release.Verify(root, allowed, 2)
		if err != nil || !r.Right() || len(r.Signers) != 2 {
			t.Errorf("%+v, %v", r, err)
		}
		for i, name := range release.SignatureNames {
			got, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil || before[i] != "" && before[i] != string(got) {
				t.Errorf("%s is another one (%v)", name, err)
			}
			before[i] = string(got)
		}
		if err := seal.Sign(t.Context(), dir, keys[:1]); err == nil {
			t.Error("one key signs a release")
		}
	}
}

// TestProvenance: the statement names each file, the commit and each module, and is the same each time.
func TestProvenance(t *testing.T) {
	m := &release.Manifest{Version: "v0.1.0", Commit: "0e08f29c", GoVersion: "go1.26.8", Files: []release.File{{
		Name: "a", SHA256: "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
	}}}
	modules := []licence.Module{{Path: "example.com/a", Version: "v1.0.0", Sum: "h1:abc="}}
	first, err := seal.Provenance(m, modules, "https://example.com/run")
	if err != nil {
		t.Fatal(err)
	}
	var is struct {
		Type, PredicateType string
		Subject             []struct {
			Name   string
			Digest map[string]string
		}
		Predicate struct {
			BuildDefinition struct{ ResolvedDependencies []struct{ URI string } }
			RunDetails      struct{ Builder struct{ ID string } }
		}
	}
	if err := json.Unmarshal(first, &is); err != nil {
		t.Fatal(err)
	}
	d := is.Predicate.BuildDefinition.ResolvedDependencies
	if is.PredicateType != "https://slsa.dev/provenance/v1" || len(is.Subject) != 1 || is.Subject[0].Digest["sha256"] != m.Files[0].SHA256 || len(d) != 2 ||
		d[1].URI != "pkg:golang/example.com/a@v1.0.0" || is.Predicate.RunDetails.Builder.ID != "https://example.com/run" {
		t.Errorf("%s", first)
	}
	for range 20 { // protojson's spaces are random
		if again, err := seal.Provenance(m, modules, "https://example.com/run"); err != nil || string(again) != string(first) {
			t.Fatalf("another one: %s (%v)", again, err)
		}
	}
}
