package plan

import (
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// authority writes the cluster's certificates.
var authority = concern{
	name:  "cluster certificates",
	joins: true,
	reads: []string{"$.cluster.certificateAuthority", pinsPath, "$.cluster.serverCertificate", skipPath},
	plan:  planAuthority,
}

func planAuthority(in *input, out *output) {
	unpinnedAuthority(in, out)
	c := in.config.Cluster
	out.file(resource.Join, in.family.Paths.CA, in.family.Paths.CAMode, []byte(c.CertificateAuthority),
		"verifies the API server and the kubelet's clients", kubeletUnit)
	if c.ServerCertificate != "" {
		out.file(resource.Join, in.family.Paths.ServerCert, 0o644, []byte(c.ServerCertificate), "the API server's own certificate")
	}
}

// unpinnedAuthority reports a contract that accepts any CA, or says so without effect.
func unpinnedAuthority(in *input, out *output) {
	switch c := &in.given.Cluster; {
	case !c.UnsafeSkipCAVerification:
	case !c.FetchesAuthority():
		out.Warn(nodeconfig.NoEffect, skipPath, "has no effect: the contract has the CA")
	case len(c.CertificateAuthorityHashes) > 0:
		out.Warn(nodeconfig.NoEffect, skipPath, "has no effect: the CA must have one of the hashes")
	default:
		out.Warn(nodeconfig.Missing, skipPath, "accepts any CA that the cluster has signed with the token, so an attacker who knows the token can control the node; "+
			"pin the CA by its hash, which kubeadm token create --print-join-command prints")
	}
}
