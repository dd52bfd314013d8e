package concern

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// givenAuthorities are certificates of a contract's authorities, and the setting that has them.
type givenAuthorities struct {
	Path         string
	Certificates []string
}

// Authorities are those that the contract trusts, by its settings.
func (in *Input) Authorities() []givenAuthorities {
	return []givenAuthorities{
		{"$.proxy.certificateAuthority", []string{in.Config.Proxy.CertificateAuthority}},
		{"$.trust.certificates", in.Config.Trust.Certificates},
	}
}

// TrustsCloud reports whether the node trusts what the machine's cloud names. Which cloud that is, an image does not know.
func (in *Input) TrustsCloud() bool {
	return in.Joins() && in.Family.Host.CloudAuthorities && in.Facts.Platform == facts.Azure
}

// withAuthority returns the config with the cluster's CA from the facts, if the agent fetches it. If the facts have no CA, or
// one that the contract does not accept, the CA becomes a line of text that describes what is awaited: no program accepts that as
// a certificate, and a caller that makes a node of the plan calls [Needs] first.
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

// WithFetchedAuthority returns the config with the cluster's CA, which the facts have if the contract only pins it.
func WithFetchedAuthority(c *nodeconfig.NodeConfig, f facts.Facts) *nodeconfig.NodeConfig {
	planned, _ := withAuthority(c, f)
	return planned
}

// AuthorityPath is the path of the cluster's CA on a node of the config.
func AuthorityPath(c *nodeconfig.NodeConfig) string { return profile.Of(c.Components.Layout).Paths.CA }
