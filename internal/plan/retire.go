package plan

import (
	"path"
	"regexp"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/resource"
)

// retireUnit watches for the kubelet's certificate, and removes the credential that it joined with.
const retireUnit = "slipway-retire-credential"

// retireCredential sees to it that the bootstrap credential is gone as soon as the kubelet has a
// certificate of its own, whether an agent is at work then or not: it is a cluster's credential and not
// the node's, and whoever reads it can add nodes. The kubelet asks for it again only when it has none
// (Kubernetes: TLS bootstrapping).
func (p *planner) retireCredential() {
	certificate := ownCertificate(p.config.Kubelet)
	if !plainPath.MatchString(certificate) || path.Clean(certificate) != certificate {
		p.warn("$.kubelet.flags", "cert-dir is not a plain absolute path: the bootstrap token stays on the node after it has joined")
		return
	}
	p.certificate = certificate
	// systemd looks again when the service has ended, so it must not end (systemd.path(5)). The kubelet does
	// not sync what it writes: the certificate is empty for a while, is so for ever where the power has gone
	// meanwhile, and must be durable before the credential goes.
	p.file(resource.Join, resource.UnitDir+"/"+retireUnit+".service", 0o644, unitFile(
		"[Unit]",
		"Description=Remove the credential that the node joined with",
		"StartLimitIntervalSec=0",
		"",
		"[Service]",
		"Type=oneshot",
		"RemainAfterExit=yes",
		"Restart=on-failure",
		"RestartSec=2",
		"ExecStart=test -s "+certificate,
		"ExecStart=sync -f "+certificate,
		"ExecStart=rm -f "+p.layout.bootstrapConfig,
	), "removes the bootstrap credential")
	p.file(resource.Join, resource.UnitDir+"/"+retireUnit+".path", 0o644, unitFile(
		"[Unit]",
		"Description=Wait for the kubelet's own certificate",
		"",
		"[Path]",
		"PathExists="+certificate,
		"",
		"[Install]",
		"WantedBy=multi-user.target",
	), "waits for the kubelet's certificate", retireUnit+".path")
	p.enable(resource.Join, retireUnit+".path")
	p.add(resource.Resource{
		Phase: resource.Join,
		// There is no hurry before it.
		Requires: []resource.ID{resource.IDOf(&resource.Unit{Unit: kubeletUnit})},
		ExitCode: exitcode.UnitStartFailed,
		Reason:   "the bootstrap credential goes when the kubelet has a certificate",
		Spec:     &resource.Unit{Unit: retireUnit + ".path"},
	})
}

// plainPath is a path that means the same wherever it is written.
var plainPath = regexp.MustCompile(`^/[A-Za-z0-9._/-]+$`)
