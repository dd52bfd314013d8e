package system

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/distro"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// trust adds the contract's certificate authorities, the proxy's and the cloud's to those that the system trusts.
var trust = concern.Concern{
	Name:  "trusted certificates",
	Reads: []string{"$.proxy.certificateAuthority", "$.trust.certificates"},
	Plan:  planTrust,
}

// trustTimeout is as long as a node without an agent can wait for it and still join within the default time limit (nodeconfig,
// DefaultTimeout): Debian's program starts some thousand processes, and has taken over two minutes on a machine whose
// processors were busy.
const trustTimeout = resource.Duration(10 * time.Minute)

// scratch is the program's directory for temporary files: in the agent's unit, /tmp is not writable
// (slipway-provision.service, ProtectSystem=).
var scratch = map[string]string{"TMPDIR": "/run"}

func planTrust(in *concern.Input, out *concern.Output) {
	store := &trustStore{in.Distro.Trust}
	known := store.Anchors != ""
	files := make(map[string][]byte) // by name, for one certificate may be given twice
	for _, s := range in.Authorities() {
		found := certificateFiles(s.Certificates)
		if !known && len(found) > 0 {
			// A program that needs them reports an error without a certificate's name. Without facts, the machine is not known yet.
			out.Add(nodeconfig.Problem{
				Kind: nodeconfig.NotApplied, Path: s.Path, Fatal: in.Seen(),
				Reason: fmt.Sprintf("is not applied: it is not known where %s keeps the certificates that it trusts", concern.SystemName(in)),
			})
		}
		maps.Copy(files, found)
	}
	phase := resource.Base
	if len(files) == 0 {
		phase = resource.Join
	}
	clouds := cloudFiles(in, out, files, known)
	if !known || len(files)+len(clouds) == 0 {
		return
	}
	store.trust(out, resource.Base, files, "a certificate authority that the contract trusts")
	store.trust(out, resource.Join, clouds, concern.Sourced("a certificate authority that the cloud wants its machines to trust", in.Family.Sources.CloudAuthorities))
	maps.Copy(files, clouds)
	store.updated(out, phase, slices.Sorted(maps.Keys(files)))
}

// trustStore is the distribution's.
type trustStore struct{ distro.Trust }

// updated plans what programs read of the certificates. The agent makes it as the distribution's program would, so that nothing
// waits for that. It is run all the same, in the background: it knows more of its distribution, such as the hooks of other packages.
func (s *trustStore) updated(out *concern.Output, phase resource.Phase, names []string) {
	made := &resource.TrustStore{Label: "trust-store", Bundle: s.Bundle, Anchors: s.Anchors, Packages: s.Hashed.Packages, Selection: s.Hashed.Selection, Links: s.Hashed.Links}
	for _, name := range names {
		made.Added = append(made.Added, s.Anchors+"/"+name+s.Extension)
	}
	out.AppendTo(concern.TrustGroup, resource.Resource{
		Phase: phase, ExitCode: exitcode.TrustFailed, Reason: "programs trust the certificates that have come, and no more those that have gone", Spec: made,
	})
	command := &resource.Command{
		Label: "trusted-certificates", Argv: slices.Clone(s.Tool), Env: scratch, Timeout: trustTimeout,
		Inputs: slices.Compact([]string{s.Anchors, path.Dir(s.Bundle)}), Advisory: true,
	}
	if s.Hashed.Links != "" {
		command.Confirms = []string{s.Bundle, s.Hashed.Links}
	}
	out.Append(resource.Resource{
		Phase: phase, ExitCode: exitcode.TrustFailed, Reason: "the distribution's own program comes to the same, when nothing waits for it", Spec: command,
		After: []resource.ID{resource.IDOf(made), resource.IDOf(&resource.Check{Label: concern.KubeletActive})},
	})
}

// trust adds files with a certificate each, in their order.
func (s *trustStore) trust(out *concern.Output, phase resource.Phase, files map[string][]byte, reason string) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		// Programs in Go read the store once, when they first need it (Go: crypto/x509, SystemCertPool).
		out.File(phase, s.Anchors+"/"+name+s.Extension, 0o644, files[name], reason, concern.ContainerdUnit)
	}
}

// cloudFiles are the files of the cloud's certificate authorities, without those in the contract. No setting requires
// them, so a node is made without those that are missing.
func cloudFiles(in *concern.Input, out *concern.Output, contracts map[string][]byte, known bool) map[string][]byte {
	const path = "$.cloud.azure.location"
	said := in.Facts.Authorities
	if said == nil || !in.TrustsCloud() {
		return nil
	}
	if said.Unanswered {
		out.Warn(nodeconfig.Dropped, path, "the cloud's wire server has not said, or not completely, which certificate authorities a machine there is to trust; "+
			"the node trusts those that were known before, and the next boot asks again: curl http://168.63.129.16/acms/isOptedInForRootCerts")
	}
	if len(said.Refused) > 0 {
		out.Warn(nodeconfig.Dropped, path, "the cloud's wire server names certificate authorities that the node does not trust, because they are no certificates or their names are no file names: %s",
			strings.Join(said.Refused, ", "))
	}
	files := certificateFiles(said.Certificates)
	maps.DeleteFunc(files, func(name string, _ []byte) bool { return contracts[name] != nil })
	if !known && len(files) > 0 {
		out.Warn(nodeconfig.NotApplied, path, "its certificate authorities are not trusted: it is not known where %s keeps the certificates that it trusts", concern.SystemName(in))
	}
	return files
}

// certificateFiles returns files with one certificate each, by their names without an extension. A name depends on the certificate
// alone, so removing a certificate removes its file, whatever its position in the list was.
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
