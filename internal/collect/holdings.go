package collect

import (
	"context"
	"fmt"
	"log/slog"
	"path"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/redact"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// holdings are what the machine holds: its facts, its contract, its generations, and the secrets in them and elsewhere.
type holdings struct {
	facts facts.Facts
	// contract is the contract without its secrets, and contractErr is why it is missing.
	contract    []byte
	contractErr error
	store       *generation.Store
	storeErr    error
	known       *redact.Known
}

// gather reads all places with secrets, before anything is written.
func (c *Collector) gather(ctx context.Context) (*holdings, error) {
	h := &holdings{facts: facts.Gather(c.Machine), known: redact.NewKnown()}
	h.readContracts(ctx, c)
	h.store, h.storeErr = generation.Open(c.Machine, slog.New(slog.DiscardHandler))
	if h.storeErr == nil {
		for _, entry := range h.store.Entries() {
			if plan, err := h.store.Plan(entry.Number); err == nil {
				h.learnPlan(plan)
			}
		}
	}
	for _, pattern := range secretFiles() {
		paths, _, _ := glob(c.Machine, pattern) // a missing file has no secret
		for _, path := range paths {
			if data, err := c.Machine.ReadFile(path, document.MaxBytes); err == nil {
				h.known.Learn(data)
			}
		}
	}
	return h, nil
}

// readContracts reads every contract that is on the machine. The first one is that of the bundle.
func (h *holdings) readContracts(ctx context.Context, c *Collector) {
	search := &source.Search{Machine: c.Machine, Facts: h.facts, Now: c.Now}
	found, err := search.Find(ctx)
	if h.contractErr = err; err == nil {
		h.contractErr = h.readContract(found.Data, &h.contract)
	}
	for _, at := range source.Paths {
		if data, err := c.Machine.ReadFile(at, document.MaxBytes); err == nil && (at != found.Path || h.contractErr != nil) {
			_ = h.readContract(data, nil) // only for its secrets
		}
	}
}

// readContract learns the secrets of a contract, and writes it without them.
func (h *holdings) readContract(data []byte, to *[]byte) error {
	contract := compile.ReadOne("", data)
	h.known.Learn(data)
	if !contract.Readable() {
		return fmt.Errorf("is not a contract of a known dialect")
	}
	for _, config := range []*nodeconfig.NodeConfig{contract.Config, contract.Written()} {
		replaceSecrets(config, func(secret string) string {
			h.known.Add(secret)
			return h.known.Placeholder(secret)
		})
		if to == nil {
			continue
		}
		tree, err := document.Parse(nodeconfig.Encode(config))
		if err != nil {
			return err
		}
		*to = tree.AppendYAML(nil)
	}
	return nil
}

// learnPlan learns the secrets in the files of a plan.
func (h *holdings) learnPlan(plan resource.Plan) {
	for _, r := range plan.Resources {
		if file, ok := r.Spec.(*resource.File); ok {
			h.known.Learn(file.Content)
		}
	}
}

// secretFiles are files that can have secrets, and of which only their values are read: kubeconfigs, keys, the configurations of
// credential providers, registries and proxies, and environment files.
func secretFiles() []string {
	return append(ofFamilies(func(p *profile.Profile) []string {
		return []string{
			p.Paths.Kubeconfig, p.Paths.BootstrapConfig, p.Paths.ClientKey, p.Paths.CloudConfig, p.Paths.CredentialConfig, p.Paths.KubeletEnv,
			p.Paths.KubeletConfig, p.Paths.KubeletDropIn, p.Command.Metadata, p.Attested.Environment,
		}
	}),
		concern.ProxyEnv, concern.EnvironmentDir+"*", concern.ContainerdConfig, path.Dir(concern.ContainerdConfig)+"/conf.d/*.toml",
		concern.RegistriesDir+"/*/hosts.toml", concern.CNIConfDir+"/*",
		"/var/lib/kubelet/pki/*", "/etc/kubernetes/*.conf", "/etc/kubernetes/pki/*", "/etc/kubernetes/certs/*",
		"/var/lib/kubelet/config.json", "/var/lib/kubelet/kubeadm-flags.env", "/root/.docker/config.json", // Kubernetes: credentials for private registries
		"/etc/environment", "/etc/systemd/system/*.d/*.conf", "/etc/systemd/system.conf.d/*.conf", "/etc/default/*", "/etc/sysconfig/*",
		"/etc/apt/apt.conf.d/*proxy*", "/etc/yum.conf", "/etc/dnf/dnf.conf",
		// Parts of user data that are not the contract: cloud-init's copies and those of Azure's guest agent.
		"/var/lib/cloud/instances/*/user-data.txt", "/var/lib/waagent/ovf-env.xml", "/var/lib/waagent/CustomData", "/var/lib/waagent/*.prv",
		"/etc/ssh/ssh_host_*_key",
	)
}

// notes describe the limits of the redaction.
func (h *holdings) notes() []string {
	notes := []string{
		fmt.Sprintf("%d secrets of this machine were searched for in every file, as they are and in JSON, URLs, base64 and hexadecimal digits; so was everything that looks like a secret. Each was replaced by a placeholder, the same one for the same secret.", h.known.Len()),
		"Private keys, kubeconfigs, container logs and the environments of processes are not collected. Certificates are public.",
	}
	if n := h.known.Short(); n > 0 {
		notes = append(notes, fmt.Sprintf("%d secrets have fewer than %d characters: they are not searched for, because words would be replaced everywhere. Look for them before you pass the bundle on.", n, redact.MinKnown))
	}
	return notes
}
