package cases

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/status"
)

// An AKS kubelet recovers by itself after its certificate has expired, because the credential with which it joined still exists
// (AKS: ensureKubelet), also after the agent has run again on a joined node.
func TestBootstrapCredentialStaysAfterJoin(t *testing.T) {
	const credential = "var/lib/kubelet/bootstrap-kubeconfig"
	root := t.TempDir()
	c := spec{Example: "aks/azure-cni.json"}
	c.prepare(t, root)
	if s := provision(t, root, c.facts(t)); s.Outcome != status.OutcomeSuccess {
		t.Fatalf("not provisioned: %+v", s.Error)
	}
	want := string(read(t, filepath.Join(root, credential)))
	write(t, filepath.Join(root, "var/lib/kubelet/kubeconfig"), []byte("the kubelet's own"))
	write(t, filepath.Join(root, "var/lib/kubelet/pki/kubelet-client-current.pem"), []byte("the kubelet's own"))
	if s := provision(t, root, c.facts(t)); s.Outcome != status.OutcomeSuccess {
		t.Fatalf("not provisioned again: %+v", s.Error)
	}
	if got := string(read(t, filepath.Join(root, credential))); got != want {
		t.Errorf("the credential is %q, want %q", got, want)
	}
	if info, err := os.Stat(filepath.Join(root, credential)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v (%v), want 0600", info, err)
	}
}
