package concern

import (
	"path"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/tlsbootstrap"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// joinMethod is the contract's method, with one exception: if the image has no client for an attested identity, and the contract has a
// token, the node joins with the token.
func joinMethod(c *nodeconfig.NodeConfig, client string) nodeconfig.JoinMethod {
	if c.Join.Method == nodeconfig.JoinAttested && client == "" && !c.Join.BootstrapToken.IsZero() {
		return nodeconfig.JoinBootstrapToken
	}
	return c.Join.Method
}

// clientOf returns the path of that client: its destination if the contract brings it, or else its path in the image. Empty means
// that the node has no such client.
func clientOf(c *nodeconfig.NodeConfig, known facts.Facts, program string) string {
	if program != "" && BringsClient(c) {
		return program
	}
	return ProgramOf(known, program)
}

// BringsClient reports whether the contract names a place of the client, for a node that uses it.
func BringsClient(c *nodeconfig.NodeConfig) bool {
	return c.Join.Method == nodeconfig.JoinAttested && len(Places(c.Components.Artifacts[ClientName])) > 0
}

// FallsBack reports whether the node has a token to join with where the client for its attested identity fails.
func (in *Input) FallsBack() bool {
	return in.Method == nodeconfig.JoinAttested && !in.Config.Join.BootstrapToken.IsZero()
}

// The client certificate with its key that a kubelet requests from the cluster when it joins, and again before the current one
// expires (Kubernetes: TLS bootstrapping; kubelet: --cert-dir).
const (
	KubeletCertDir     = "/var/lib/kubelet/pki"
	kubeletCertificate = tlsbootstrap.Current
)

// ownCertificate is where the kubelet keeps the certificate that the cluster gave it.
func ownCertificate(k nodeconfig.Kubelet) string {
	return path.Join(kubeletsetting.Value(k, "cert-dir", "", KubeletCertDir), kubeletCertificate)
}

// RetiringCertificate is the certificate whose presence retires the bootstrap credential, or "" if its path
// cannot be written into a unit.
func RetiringCertificate(k nodeconfig.Kubelet) string {
	if certificate := ownCertificate(k); IsPlainPath(certificate) && path.Clean(certificate) == certificate {
		return certificate
	}
	return ""
}

// ServingPair are both in the directory that --cert-dir names.
func ServingPair(dir string) []string { return []string{dir + "/kubelet.crt", dir + "/kubelet.key"} }
