package plan

import (
	"path"

	"github.com/slipway-dev/slipway/internal/tlsbootstrap"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The client certificate, with its key, that a kubelet asks the cluster for when it joins, and before the
// one that it has expires (Kubernetes: TLS bootstrapping; kubelet: --cert-dir).
const (
	kubeletCertDir     = "/var/lib/kubelet/pki"
	kubeletCertificate = tlsbootstrap.Current
)

// ownCertificate is where the kubelet keeps the certificate that the cluster gave it.
func ownCertificate(k nodeconfig.Kubelet) string {
	return path.Join(kubeletSetting(k, "cert-dir", "", kubeletCertDir), kubeletCertificate)
}

// retiringCertificate is the certificate whose presence retires the bootstrap credential, or "" where its path is none
// that can be written into a unit.
func retiringCertificate(k nodeconfig.Kubelet) string {
	if certificate := ownCertificate(k); isPlainPath(certificate) && path.Clean(certificate) == certificate {
		return certificate
	}
	return ""
}

// servingPair are both in the directory that --cert-dir names.
func servingPair(dir string) []string { return []string{dir + "/kubelet.crt", dir + "/kubelet.key"} }
