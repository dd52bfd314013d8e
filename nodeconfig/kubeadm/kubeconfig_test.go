package kubeadm_test

import (
	"testing"

	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/test/contracts"
)

const kubeconfig = "../../examples/kubeadm/kubeconfig.yaml"

func TestKubeconfigs(t *testing.T) {
	for _, c := range contracts.Load(t, kubeconfig, "testdata/kubeconfig.yaml") {
		t.Run(c.Name, func(t *testing.T) {
			got := dialect.Decode(c.Document, "")
			nodeconfig.SortProblems(c.Want)
			contracts.Compare(t, got.Problems, c.Want)
			c.CompareConfig(t, got.Config)
		})
	}
}

// FuzzKubeconfig: a kubeconfig that names no server, no CA and no credential, or that trusts every CA, makes no node.
func FuzzKubeconfig(f *testing.F) {
	for _, c := range contracts.Load(f, kubeconfig, "testdata/kubeconfig.yaml") {
		f.Add(c.Document)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := dialect.Decode(data, "")
		if got.Dialect != dialect.Kubeadm || len(nodeconfig.Fatal(got.Problems)) > 0 {
			return
		}
		cluster, join := &got.Config.Cluster, &got.Config.Join
		if cluster.Server == "" || cluster.CertificateAuthority == "" && len(cluster.CertificateAuthorityHashes) == 0 {
			t.Errorf("%q makes a node of any cluster: %s", data, nodeconfig.Encode(got.Config))
		}
		if join.BootstrapToken.IsZero() && join.ClientCertificate == nil && join.Exec == nil {
			t.Errorf("%q makes a node without a credential: %s", data, nodeconfig.Encode(got.Config))
		}
	})
}
