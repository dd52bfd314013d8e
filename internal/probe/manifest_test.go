package probe

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// signedManifest is a manifest with the signature of a key, made by ssh-keygen -Y sign.
func signedManifest(t *testing.T) (manifest, signature []byte, signer string) {
	t.Helper()
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("testdata", "manifest", name))
		must(t, err)
		return data
	}
	return read("components.json"), read("components.json.sig"), strings.TrimSpace(string(read("allowed_signers")))
}

func TestManifest(t *testing.T) {
	manifest, signature, signer := signedManifest(t)
	sum := sha256.Sum256(manifest)
	digest := hex.EncodeToString(sum[:])
	flipped := append([]byte(nil), manifest...)
	flipped[len(flipped)/2] ^= 1
	const other = "b ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
	for _, test := range []struct {
		name                string
		manifest, signature []byte
		want                nodeconfig.ManifestRequirement
		err                 string
	}{
		{"the digest", manifest, nil, nodeconfig.ManifestRequirement{SHA256: digest}, ""},
		{"the digest in capitals", manifest, nil, nodeconfig.ManifestRequirement{SHA256: strings.ToUpper(digest)}, ""},
		{"the signature", manifest, signature, nodeconfig.ManifestRequirement{Signers: []string{signer}}, ""},
		{"both, and a further signer", manifest, signature, nodeconfig.ManifestRequirement{SHA256: digest, Signers: []string{other, signer}}, ""},
		{"none", nil, nil, nodeconfig.ManifestRequirement{SHA256: digest}, "no such file"},
		{"one flipped bit", flipped, nil, nodeconfig.ManifestRequirement{SHA256: digest}, components.Path + ": has SHA-256 "},
		{"one flipped bit, signed", flipped, signature, nodeconfig.ManifestRequirement{Signers: []string{signer}}, components.SignaturePath + ": the signature is not one of these bytes"},
		{"half a manifest", manifest[:len(manifest)/2], signature, nodeconfig.ManifestRequirement{Signers: []string{signer}}, components.SignaturePath + ": the signature is not one of these bytes"},
		{"no signature", manifest, nil, nodeconfig.ManifestRequirement{Signers: []string{signer}}, components.SignaturePath + ": no such file"},
		{"another signer", manifest, signature, nodeconfig.ManifestRequirement{Signers: []string{other}}, "its key is not in the list"},
		{"the right digest and another signer", manifest, signature, nodeconfig.ManifestRequirement{SHA256: digest, Signers: []string{other}}, "its key is not in the list"},
		{"a signer for another purpose", manifest, signature, nodeconfig.ManifestRequirement{Signers: []string{strings.Replace(signer, " ", ` namespaces="git" `, 1)}}, "may not sign for"},
		{"too large", make([]byte, components.MaxBytes+1), nil, nodeconfig.ManifestRequirement{SHA256: digest}, components.Path + ": "},
	} {
		tree, at := newTree(t)
		for path, content := range map[string][]byte{components.Path: test.manifest, components.SignaturePath: test.signature} {
			if content != nil {
				must(t, os.MkdirAll(filepath.Dir(at(path)), 0o755))
				must(t, os.WriteFile(at(path), content, 0o644))
			}
		}
		err := Wait(t.Context(), tree, nil, &resource.Check{Label: "image-manifest", Manifest: &test.want})
		if test.err == "" {
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		failed, is := errors.AsType[*apply.CheckError](err)
		if !is || failed.Cause != resource.CauseContent || !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, want %q", test.name, err, test.err)
		}
	}
}

func TestNewerManifest(t *testing.T) {
	tree, at := newTree(t)
	content := []byte(`{"apiVersion": "slipway.dev/v2", "kind": "ComponentManifest"}`)
	must(t, os.MkdirAll(filepath.Dir(at(components.Path)), 0o755))
	must(t, os.WriteFile(at(components.Path), content, 0o644))
	sum := sha256.Sum256(content)
	err := Wait(t.Context(), tree, nil, &resource.Check{Manifest: &nodeconfig.ManifestRequirement{SHA256: hex.EncodeToString(sum[:])}})
	wantError(t, err, `content: `+components.Path+`: component manifest is "slipway.dev/v2"`)
}

func TestDigest(t *testing.T) {
	tree, at := newTree(t)
	sum := sha256.Sum256([]byte("kubelet"))
	check := &resource.Check{Digest: &resource.Digest{Path: "/kubelet", SHA256: hex.EncodeToString(sum[:])}}
	wantError(t, Wait(t.Context(), tree, nil, check), "content: /kubelet: no such file")
	must(t, os.WriteFile(at("/kubelet"), []byte("kubelet"), 0o755))
	must(t, Wait(t.Context(), tree, nil, check))
	must(t, os.WriteFile(at("/kubelet"), []byte("kubelev"), 0o755))
	wantError(t, Wait(t.Context(), tree, nil, check), "content: /kubelet: has SHA-256 ")
	must(t, os.Remove(at("/kubelet")))
	must(t, os.Mkdir(at("/kubelet"), 0o755))
	wantError(t, Wait(t.Context(), tree, nil, check), "content: /kubelet: ")
}
