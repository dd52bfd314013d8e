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

// FetchesAuthority reports whether the agent fetches the CA from the cluster, because the contract does not have it.
func (c *Cluster) FetchesAuthority() bool {
	return c.CertificateAuthority == "" && (len(c.CertificateAuthorityHashes) > 0 || c.UnsafeSkipCAVerification)
}

// AcceptsAuthority reports whether a bundle, in PEM, may be the CA: a certificate in it has a public key with one of
// CertificateAuthorityHashes, or any key with UnsafeSkipCAVerification and without hashes.
func (c *Cluster) AcceptsAuthority(bundle string) bool {
	acceptsAny := c.UnsafeSkipCAVerification && len(c.CertificateAuthorityHashes) == 0
	for rest := []byte(bundle); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return false
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			continue
		}
		if acceptsAny || slices.Contains(c.CertificateAuthorityHashes, PinOf(certificate)) {
			return true
		}
	}
}

// PinOf is what a certificate is pinned by: "sha256:" and the SHA-256 of its SubjectPublicKeyInfo (RFC 7469, 2.4).
func PinOf(certificate *x509.Certificate) string {
	sum := sha256.Sum256(certificate.RawSubjectPublicKeyInfo)
	return pinFormat + hex.EncodeToString(sum[:])
}
