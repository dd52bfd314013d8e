package join

import (
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// retireUnit watches for the kubelet's own certificate and kubeconfig, and removes the credential that it
// joined with.
const retireUnit = "slipway-retire-credential"

// retireCredential removes the bootstrap credential as soon as the kubelet has a certificate and a kubeconfig, whether an agent
// runs then or not. The credential belongs to the cluster, not to the node: a program that reads it can add nodes. The kubelet
// needs it again only if the certificate or the kubeconfig is missing (Kubernetes: TLS bootstrapping; k8s.io/kubernetes v1.36.3
// pkg/kubelet/certificate/bootstrap/bootstrap.go: LoadClientConfig).
func retireCredential(in *concern.Input, out *concern.Output) {
	certificate, kubeconfig := in.Certificate, in.Family.Paths.Kubeconfig
	if certificate == "" {
		out.Warn(nodeconfig.Invalid, "$.kubelet.flags", "cert-dir is not a plain absolute path: the bootstrap token stays on the node after it has joined")
		return
	}
	// systemd checks the path again when the service ends, so the service must not end (systemd.path(5)). The kubelet does not sync its
	// files: a file is empty for a while, and stays empty if the power fails then. It must be durable before the credential is removed.
	// The kubelet writes an empty kubeconfig again, with the credential.
	out.File(resource.Join, resource.UnitDir+"/"+retireUnit+".service", 0o644, unitfile.File(
		unitfile.Section("Unit"),
		unitfile.Set("Description", "Remove the credential that the node joined with"),
		unitfile.Set("StartLimitIntervalSec", "0"),
		unitfile.Section("Service"),
		unitfile.Set("Type", "oneshot"),
		unitfile.Set("RemainAfterExit", "yes"),
		unitfile.Set("Restart", "on-failure"),
		unitfile.Set("RestartSec", "2"),
		unitfile.Set("ExecStart", "test -s "+unitfile.Quote(certificate)),
		unitfile.Set("ExecStart", "test -s "+unitfile.Quote(kubeconfig)),
		unitfile.Set("ExecStart", "sync -f "+unitfile.Quote(certificate)+" "+unitfile.Quote(kubeconfig)),
		unitfile.Set("ExecStart", "rm -f "+unitfile.Quote(in.Family.Paths.BootstrapConfig)),
	), "removes the bootstrap credential")
	out.File(resource.Join, resource.UnitDir+"/"+retireUnit+".path", 0o644, unitfile.File(
		unitfile.Section("Unit"),
		unitfile.Set("Description", "Wait for the kubelet's own certificate"),
		unitfile.Section("Path"),
		unitfile.Set("PathExists", unitfile.Quote(certificate)),
		unitfile.Section("Install"),
		unitfile.Set("WantedBy", "multi-user.target"),
	), "waits for the kubelet's certificate", retireUnit+".path")
	out.Enable(resource.Join, retireUnit+".path")
	out.Append(resource.Resource{
		Phase:    resource.Join,
		Requires: []resource.ID{concern.StartGroup.All()},
		// The certificate can be there already, and removing takes four programs and a sync: not while the kubelet starts.
		After:    []resource.ID{resource.IDOf(&resource.Check{Label: concern.KubeletActive})},
		ExitCode: exitcode.UnitStartFailed,
		Reason:   "the bootstrap credential is removed when the kubelet has a certificate",
		Spec:     &resource.Unit{Unit: retireUnit + ".path"},
	})
}

// ownCredentials are the certificate and the kubeconfig of a kubelet that has joined; nil if the certificate's path is not
// known.
func ownCredentials(in *concern.Input) []string {
	if in.Certificate == "" {
		return nil
	}
	return []string{in.Certificate, in.Family.Paths.Kubeconfig}
}
