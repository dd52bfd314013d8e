package plan

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// pinsPath is the setting that pins the cluster's CA.
const pinsPath = "$.cluster.certificateAuthorityHashes"

// skipPath is the setting that accepts any CA.
const skipPath = "$.cluster.unsafeSkipCAVerification"

// withAuthority returns the config with the cluster's CA from the facts, if the agent fetches it. If the facts do not have it, or
// have one that the contract does not accept, the CA is a line of text that says what is awaited: no program takes it for
// a certificate, and a caller that makes a node of the plan asks [Needs] first.
func withAuthority(c *nodeconfig.NodeConfig, f facts.Facts) (_ *nodeconfig.NodeConfig, awaited bool) {
	if !c.Cluster.FetchesAuthority() {
		return c, false
	}
	planned := *c
	planned.Cluster.CertificateAuthority = f.ClusterAuthority
	if awaited = !c.Cluster.AcceptsAuthority(f.ClusterAuthority); awaited {
		known := "which the cluster has signed with the token"
		if hashes := c.Cluster.CertificateAuthorityHashes; len(hashes) > 0 {
			known = "whose public key has the hash " + strings.Join(hashes, " or ")
		}
		planned.Cluster.CertificateAuthority = "The agent fetches the cluster's CA, " + known + ".\n"
	}
	return &planned, awaited
}

// unpinnedAuthority reports a contract that accepts any CA, or says so without effect.
func unpinnedAuthority(in *input, out *output) {
	switch c := &in.given.Cluster; {
	case !c.UnsafeSkipCAVerification:
	case !c.FetchesAuthority():
		out.warn(nodeconfig.NoEffect, skipPath, "has no effect: the contract has the CA")
	case len(c.CertificateAuthorityHashes) > 0:
		out.warn(nodeconfig.NoEffect, skipPath, "has no effect: the CA must have one of the hashes")
	default:
		out.warn(nodeconfig.Missing, skipPath, "accepts any CA that the cluster has signed with the token, so an attacker who knows the token can control the node; "+
			"pin the CA by its hash, which kubeadm token create --print-join-command prints")
	}
}

// AuthorityPath is where a node of the config has the cluster's CA.
func AuthorityPath(c *nodeconfig.NodeConfig) string { return profile.Of(c.Components.Layout).Paths.CA }
