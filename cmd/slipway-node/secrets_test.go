package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/test/contracts"
)

// canary is in every secret of the contract below; only the right files may have it.
const (
	canary = "canary&0123456789abcdef"
	token  = "canary.0123456789abcdef" // in the form of a bootstrap token
)

// canaryForms are all texts that show it.
func canaryForms(t *testing.T) []string {
	t.Helper()
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write([]byte(canary)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(canary))
	return []string{
		canary, encoded, strings.TrimRight(encoded, "="), hex.EncodeToString([]byte(canary)), url.QueryEscape(canary), `canary\u0026`,
		base64.StdEncoding.EncodeToString(zipped.Bytes()), canary[8:],
	}
}

// No command prints a secret, in any form or at any level of the log, whether it succeeds or fails.
func TestSecretsAreNotPrinted(t *testing.T) {
	dir := t.TempDir()
	root, plain, secret := filepath.Join(dir, "node"), "../../examples/native/full.yaml", filepath.Join(dir, "secret.yaml")
	secrets := contracts.NativeSecrets(t, func(path string) string {
		switch path {
		case "$.join.bootstrapToken":
			return token
		case "$.join.clientCertificate.key":
			return "-----BEGIN PRIVATE KEY-----\n" + base64.StdEncoding.EncodeToString([]byte(canary)) + "\n-----END PRIVATE KEY-----\n"
		case "$.proxy.http", "$.proxy.https":
			return "http://u:" + canary + "@proxy.example:1"
		case "$.runtime.containerd.config":
			return `x = "` + canary + `"`
		}
		return canary
	})
	more, err := document.Parse([]byte(`{"metadata":{"revision":4},"join":{"exec":{"command":"/bin/true"}},"access":{"realm":{"domain":"example.com","user":"u"}},"kubelet":{"imageCredentialProvider":{"binDir":"/opt/bin"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	contract := contracts.Merge(contracts.Merge(contracts.Parse(t, plain), secrets.Document), more).AppendJSON(nil)
	if err := os.WriteFile(secret, contract, 0o600); err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	call := func(args ...string) {
		t.Helper()
		var out, log bytes.Buffer
		code := run(t.Context(), program, append(args, "--root", root, "--log-level", "debug"), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &log})
		if code != 0 {
			t.Errorf("%v: exit code %d: %s%s", args, code, out.Bytes(), log.Bytes())
		}
		printed.Write(append(out.Bytes(), log.Bytes()...))
	}
	facts := []string{"--facts", "../../examples/facts/ubuntu.json"}
	call(append(facts, "provision", "--provision-config", plain)...)
	for _, form := range []string{"text", "json"} {
		call(append(facts, "apply", "-f", secret, "--dry-run", "-o", form)...)
	}
	call(append(facts, "apply", "-f", secret, "--try", "1m", "-o", "json")...)
	arrived, err := os.ReadFile(root + "/etc/kubernetes/azure.json")
	if err != nil || !bytes.Contains(arrived, []byte("0123456789abcdef")) {
		t.Fatalf("the secret has not arrived: %v", err)
	}
	for _, form := range []string{"text", "json"} {
		call("status", "-o", form)
		call("status", "--generations", "-o", form)
		call("status", "--drift", "-o", form)
		call("rollback", "--dry-run", "-o", form)
	}
	// A secret file that was changed by hand is not shown either: neither its old secret nor its new one.
	if err := os.WriteFile(root+"/etc/kubernetes/azure.json", append(arrived, canary...), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"text", "json"} {
		streams := cli.Streams{In: strings.NewReader(""), Out: &printed, Err: &printed}
		if code := run(t.Context(), program, []string{"status", "--drift", "-o", form, "--root", root}, streams); code != 1 {
			t.Errorf("drift: exit code %d", code)
		}
	}
	if err := os.WriteFile(root+"/etc/kubernetes/azure.json", arrived, 0o600); err != nil {
		t.Fatal(err)
	}
	call("confirm")
	call("rollback")
	call("rollback", "2")
	call(append(facts, "provision", "--provision-config", secret)...)
	call("provision-wait", "--timeout", "1s")
	printed.Write(bundleOf(t, root, secret))
	if printed.Len() < 10000 {
		t.Fatalf("only %d bytes were printed", printed.Len())
	}
	for _, form := range canaryForms(t) {
		if at := strings.Index(printed.String(), form); at >= 0 {
			t.Errorf("%q is printed: ...%s...", form, printed.String()[max(0, at-200):at+50])
		}
	}
}

// bundleOf is the content of a node's support bundle. Its contract is on the node, and its logs show the secrets in each form.
func bundleOf(t *testing.T, root, contract string) []byte {
	t.Helper()
	data, err := os.ReadFile(contract)
	if err != nil {
		t.Fatal(err)
	}
	log := strings.Join(canaryForms(t)[:5], "\n") + "\n"
	for path, content := range map[string]string{"/etc/slipway/config.yaml": string(data), "/var/log/cloud-init-output.log": log, "/var/log/waagent.log": string(data)} {
		if err := os.MkdirAll(filepath.Dir(root+path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(root+path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errors bytes.Buffer
	if code := run(t.Context(), program, []string{"collect", "--root", root, "--file", "-"}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errors}); code != 0 {
		t.Fatalf("collect: exit code %d: %s", code, errors.Bytes())
	}
	zip, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	for _, has := range []string{"files/var/log/cloud-init-output.log", "contract.yaml", "plan.json", "<secret 1>"} {
		if !bytes.Contains(bundle, []byte(has)) {
			t.Errorf("the bundle has no %s", has)
		}
	}
	return bundle
}
