package join

import (
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// authority writes the cluster's certificates.
var authority = concern.Concern{
	Name:  "cluster certificates",
	Joins: true,
	Reads: []string{"$.cluster.certificateAuthority", setting.AuthorityHashes, "$.cluster.serverCertificate", setting.SkipVerification},
	Plan:  planAuthority,
}

func planAuthority(in *concern.Input, out *concern.Output) {
	unpinnedAuthority(in, out)
	c := in.Config.Cluster
	out.File(resource.Join, in.Family.Paths.CA, in.Family.Paths.CAMode, []byte(c.CertificateAuthority),
		"verifies the API server and the kubelet's clients", concern.KubeletUnit)
	if c.ServerCertificate != "" {
		out.File(resource.Join, in.Family.Paths.ServerCert, 0o644, []byte(c.ServerCertificate), "the API server's own certificate")
	}
}

// unpinnedAuthority reports a contract that accepts any CA, or that has the setting for it without effect.
func unpinnedAuthority(in *concern.Input, out *concern.Output) {
	switch c := &in.Given.Cluster; {
	case !c.UnsafeSkipCAVerification:
	case !c.FetchesAuthority():
		out.Warn(nodeconfig.NoEffect, setting.SkipVerification, "has no effect: the contract has the CA")
	case len(c.CertificateAuthorityHashes) > 0:
		out.Warn(nodeconfig.NoEffect, setting.SkipVerification, "has no effect: the CA must have one of the hashes")
	default:
		out.Warn(nodeconfig.Missing, setting.SkipVerification, "accepts any CA that the cluster has signed with the token, so an attacker who knows the token can control the node; "+
			"pin the CA by its hash, which kubeadm token create --print-join-command prints")
	}
}
