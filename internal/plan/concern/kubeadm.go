package concern

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// TakesDefaults reports whether the node takes what the cluster sets for all kubelets.
func (in *Input) TakesDefaults() bool {
	return in.Config.Cluster.Kubeadm && in.Family.Kubelet.ClusterDefaults
}

// ClusterName names the cluster of a config with its CA.
func ClusterName(c *nodeconfig.NodeConfig) string {
	sum := sha256.Sum256([]byte(strings.TrimSpace(c.Cluster.CertificateAuthority)))
	return hex.EncodeToString(sum[:])
}

// knownDefaults returns the cluster's answer, or nil if the agent has not asked. lacking reports whether it has yet to ask.
func knownDefaults(in *Input) (known *facts.KubeletDefaults, lacking bool) {
	if !in.TakesDefaults() {
		return nil, false
	}
	if d := in.Facts.KubeletDefaults; d != nil && d.Cluster == ClusterName(in.Config) {
		known = d
	}
	return known, DefaultsQuestion(in.Config) != nil && (known == nil || len(known.Config) == 0)
}

// DefaultsQuestion is the API server, with a credential, from which the agent reads the cluster's settings for all kubelets. It is nil
// if the node has no credential for that before it joins.
func DefaultsQuestion(c *nodeconfig.NodeConfig) *resource.AsNode {
	way := AsNode(c)
	if way.Bootstrap == "" && len(way.Credentials) == 0 {
		return nil
	}
	return way
}

// AsNode is the API server as the node reaches it.
func AsNode(c *nodeconfig.NodeConfig) *resource.AsNode {
	way := &resource.AsNode{Server: c.Cluster.Server, CertificateAuthority: c.Cluster.CertificateAuthority, Credentials: KubeletCredentials(c)}
	if c.Join.Method == nodeconfig.JoinBootstrapToken {
		way.Bootstrap = profile.Of(c.Components.Layout).Paths.BootstrapConfig
	}
	return way
}

// KubeletCredentials are the paths of the kubelet's client certificate. Like the kubelet, a caller prefers the certificate from the
// cluster to the installed one.
func KubeletCredentials(c *nodeconfig.NodeConfig) []resource.KeyPair {
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
