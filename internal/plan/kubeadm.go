package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// takesDefaults reports whether the node takes what the cluster sets for all kubelets.
func (in *input) takesDefaults() bool {
	return in.config.Cluster.Kubeadm && in.family.Kubelet.ClusterDefaults
}

// clusterName names the cluster of a config with its CA.
func clusterName(c *nodeconfig.NodeConfig) string {
	sum := sha256.Sum256([]byte(strings.TrimSpace(c.Cluster.CertificateAuthority)))
	return hex.EncodeToString(sum[:])
}

// knownDefaults is what the node's cluster has answered, nil if it was not asked, and whether it is to be asked.
func knownDefaults(in *input) (known *facts.KubeletDefaults, lacking bool) {
	if !in.takesDefaults() {
		return nil, false
	}
	if d := in.facts.KubeletDefaults; d != nil && d.Cluster == clusterName(in.config) {
		known = d
	}
	return known, DefaultsQuestion(in.config) != nil && (known == nil || len(known.Config) == 0)
}

// DefaultsQuestion is whom the agent asks what the cluster sets for all kubelets; nil if the node has no credential that it could
// ask with before it has joined.
func DefaultsQuestion(c *nodeconfig.NodeConfig) *resource.AsNode {
	way := asNode(c)
	if way.Bootstrap == "" && len(way.Credentials) == 0 {
		return nil
	}
	return way
}

// asNode is the API server as the node reaches it.
func asNode(c *nodeconfig.NodeConfig) *resource.AsNode {
	way := &resource.AsNode{Server: c.Cluster.Server, CertificateAuthority: c.Cluster.CertificateAuthority, Credentials: kubeletCredentials(c)}
	if c.Join.Method == nodeconfig.JoinBootstrapToken {
		way.Bootstrap = profile.Of(c.Components.Layout).Paths.BootstrapConfig
	}
	return way
}

// kubeletCredentials are where the kubelet's client certificate is. Like the kubelet, they prefer the one
// that it was given by the cluster to the one that it was installed with.
func kubeletCredentials(c *nodeconfig.NodeConfig) []resource.KeyPair {
	own := resource.KeyPair{Certificate: ownCertificate(c.Kubelet)}
	switch c.Join.Method {
	case nodeconfig.JoinBootstrapToken, nodeconfig.JoinAttested:
		return []resource.KeyPair{own}
	case nodeconfig.JoinClientCertificate:
		l := profile.Of(c.Components.Layout).Paths
		return []resource.KeyPair{own, {Certificate: l.ClientCert, Key: l.ClientKey}}
	}
	return nil
}
