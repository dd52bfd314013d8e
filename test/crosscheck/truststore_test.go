//go:build crosscheck

package crosscheck

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/truststore"
)

// disk is the machine of the test.
type disk struct{}

func (disk) Names(dir string) (names []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func (disk) Content(path string) []byte {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	content, _ := os.ReadFile(path)
	return append([]byte{}, content...)
}

func (disk) Target(path string) string {
	target, _ := os.Readlink(path)
	return target
}

// TestTrustStoreOfDebian makes the trust store of this machine's package ca-certificates, and compares it with the output of
// update-ca-certificates, byte for byte: alone, with one more certificate, and without that again.
func TestTrustStoreOfDebian(t *testing.T) {
	const packages, selection = "/usr/share/ca-certificates", "/etc/ca-certificates.conf"
	tool, err := exec.LookPath("update-ca-certificates")
	if err != nil || (disk{}).Content(selection) == nil {
		t.Skip("this machine has no ca-certificates")
	}
	root := t.TempDir()
	spec := &resource.TrustStore{
		Label: "x", Packages: packages, Selection: selection, Anchors: root + "/local", Links: root + "/certs", Bundle: root + "/certs/ca-certificates.crt",
	}
	for _, dir := range []string{spec.Anchors, spec.Links, root + "/hooks"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	own := filepath.Join(spec.Anchors, "slipway-0.crt")
	for what, change := range []func() error{
		func() error { return nil },
		func() error { return os.WriteFile(own, (disk{}).Content(firstCertificate(t)), 0o644) },
		func() error { return os.Remove(own) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		got := truststore.Of(disk{}, spec)
		command := exec.Command(tool, "--fresh", "--localcertsdir", spec.Anchors, "--etccertsdir", spec.Links, "--hooksdir", root+"/hooks")
		command.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C"}
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		links := make(map[string]string)
		for _, name := range (disk{}).Names(spec.Links) {
			if target := (disk{}).Target(spec.Links + "/" + name); target != "" {
				links[name] = target
			}
		}
		if bundle := (disk{}).Content(spec.Bundle); !bytes.Equal(got.Bundle, bundle) || !maps.Equal(got.Links, links) {
			t.Errorf("step %d: a bundle of %d bytes and %d links, and the tool makes %d and %d", what, len(got.Bundle), len(got.Links), len(bundle), len(links))
		}
		t.Logf("step %d: %d bytes, %d links", what, len(got.Bundle), len(got.Links))
	}
}

// firstCertificate is the first one of the selection.
func firstCertificate(t *testing.T) string {
	t.Helper()
	for line := range strings.Lines(string((disk{}).Content("/etc/ca-certificates.conf"))) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && line[0] != '!' {
			return "/usr/share/ca-certificates/" + line
		}
	}
	t.Skip("no certificate is selected")
	return ""
}
