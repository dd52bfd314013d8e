package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// trust adds the contract's certificate authorities, and the proxy's, to those that the system trusts.
var trust = concern{
	name:  "trusted certificates",
	reads: []string{"$.proxy.certificateAuthority", "$.trust.certificates"},
	plan:  planTrust,
}

// trustStore is where a distribution keeps the certificates that an administrator trusts.
type trustStore struct {
	// dir holds one file for each certificate, with an extension.
	dir, extension string
	// update is the program that makes of them what other programs read, and result is where that is.
	update []string
	result string
}

var (
	// debianStore takes files that end in .crt, with one certificate each. Without --fresh, links to files that are gone
	// stay (update-ca-certificates(8); AKS node contract, custom_ca_certs).
	debianStore = trustStore{"/usr/local/share/ca-certificates", ".crt", []string{"update-ca-certificates", "--fresh"}, "/etc/ssl/certs"}
	// redHatStore is that of p11-kit (update-ca-trust(8)). AKS uses the directory below /usr that is meant for packages,
	// on the same machines.
	redHatStore = trustStore{"/etc/pki/ca-trust/source/anchors", ".crt", []string{"update-ca-trust", "extract"}, "/etc/pki/ca-trust/extracted"}
	// flatcarStore is the directory that programs read itself; the program links each file by the hash of its subject
	// (Flatcar docs, Adding certificate authorities; AKS: update_certs.sh).
	flatcarStore = trustStore{"/etc/ssl/certs", ".pem", []string{"update-ca-certificates"}, "/etc/ssl/certs"}
)

// trustStores are those that are known, by the distribution's ID (os-release(5)).
var trustStores = map[string]trustStore{
	"azurecontainerlinux": redHatStore,
	"azurelinux":          redHatStore,
	"debian":              debianStore,
	"flatcar":             flatcarStore,
	"mariner":             redHatStore,
	"ubuntu":              debianStore,
}

// trustTimeout is as long as a node can wait for it and still join within the default time limit (nodeconfig,
// DefaultTimeout): Debian's program starts some thousand processes, and has taken over two minutes on a machine whose
// processors were busy.
const trustTimeout = resource.Duration(10 * time.Minute)

// scratch is where the program may put files meanwhile: the agent's unit has a /tmp that nobody writes to
// (slipway-provision.service, ProtectSystem=).
var scratch = map[string]string{"TMPDIR": "/run"}

func planTrust(in *input, out *output) {
	settings := []struct {
		path         string
		certificates []string
	}{
		{"$.proxy.certificateAuthority", []string{in.config.Proxy.CertificateAuthority}},
		{"$.trust.certificates", in.config.Trust.Certificates},
	}
	store, known := trustStores[in.facts.OS.ID]
	files := make(map[string][]byte) // by name, for one certificate may be given twice
	for _, s := range settings {
		found := certificateFiles(s.certificates)
		if !known && len(found) > 0 {
			// Who needs them sees an error that names no certificate; of which machine it is may not be known yet.
			out.report(nodeconfig.Problem{
				Kind: nodeconfig.NotApplied, Path: s.path, Fatal: in.facts.OS.ID != "",
				Reason: fmt.Sprintf("is not applied: it is not known where %s keeps the certificates that it trusts", systemName(in)),
			})
		}
		maps.Copy(files, found)
	}
	if !known || len(files) == 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		// Programs in Go read the store once, when they first need it (Go: crypto/x509, SystemCertPool).
		out.file(resource.Base, store.dir+"/"+name+store.extension, 0o644, files[name], "a certificate authority that the contract trusts", containerdUnit)
	}
	out.addTo(trustGroup, resource.Resource{
		Phase:    resource.Base,
		ExitCode: exitcode.TrustFailed,
		Reason:   "programs trust the certificates that have come, and no more those that have gone",
		Spec: &resource.Command{
			Label: "trusted-certificates", Argv: slices.Clone(store.update), Env: scratch, Timeout: trustTimeout, Inputs: slices.Compact([]string{store.dir, store.result}),
		},
	})
}

// certificateFiles are files with one certificate each, by their names without an extension. These depend on the certificate alone, so one that goes takes
// its file with it, whichever place in the list it had.
func certificateFiles(bundles []string) map[string][]byte {
	files := make(map[string][]byte)
	for _, bundle := range bundles {
		for rest := []byte(bundle); ; {
			var block *pem.Block
			if block, rest = pem.Decode(rest); block == nil {
				break
			}
			digest := sha256.Sum256(block.Bytes)
			files["slipway-"+hex.EncodeToString(digest[:8])] = pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes})
		}
	}
	return files
}

// systemName is how the machine's operating system is called in a problem.
func systemName(in *input) string {
	if in.facts.OS.ID == "" {
		return "this machine, whose operating system is not known,"
	}
	return fmt.Sprintf("the operating system %q", in.facts.OS.ID)
}
