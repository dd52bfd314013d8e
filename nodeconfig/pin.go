package nodeconfig

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"slices"
	"strings"
)

// pinFormat is before the digits of a hash (k8s.io/kubernetes, cmd/kubeadm/app/util/pubkeypin).
const pinFormat = "sha256:"

// isPin reports whether a text is the hash of a public key.
func isPin(hash string) bool {
	digits, ok := strings.CutPrefix(hash, pinFormat)
	sum, err := hex.DecodeString(digits)
	return ok && err == nil && len(sum) == sha256.Size
}

// IsPinned reports whether the CA is not given, and is to be fetched from the cluster.
func (c *Cluster) IsPinned() bool {
	return c.CertificateAuthority == "" && len(c.CertificateAuthorityHashes) > 0
}

// Pins reports whether a certificate in a bundle, in PEM, has a public key with one of CertificateAuthorityHashes.
func (c *Cluster) Pins(bundle string) bool {
	for rest := []byte(bundle); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return false
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			continue
		}
		if slices.Contains(c.CertificateAuthorityHashes, PinOf(certificate)) {
			return true
		}
	}
}

// PinOf is what a certificate is pinned by: "sha256:" and the SHA-256 of its SubjectPublicKeyInfo (RFC 7469, 2.4).
func PinOf(certificate *x509.Certificate) string {
	sum := sha256.Sum256(certificate.RawSubjectPublicKeyInfo)
	return pinFormat + hex.EncodeToString(sum[:])
}
