package nodeconfig

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// normalizePEM converts every certificate and key to plain PEM: documents have them as PEM or as base64 of PEM. Repair reports a
// value that is neither.
func normalizePEM(c *NodeConfig) {
	c.Cluster.CertificateAuthority = plainPEM(c.Cluster.CertificateAuthority)
	c.Cluster.ServerCertificate = plainPEM(c.Cluster.ServerCertificate)
	c.Proxy.CertificateAuthority = plainPEM(c.Proxy.CertificateAuthority)
	for _, registry := range c.Runtime.Registries {
		for _, server := range registry.hosts() {
			server.CertificateAuthority = plainPEM(server.CertificateAuthority)
		}
	}
	for i, certificate := range c.Trust.Certificates {
		c.Trust.Certificates[i] = plainPEM(certificate)
	}
	if cc := c.Join.ClientCertificate; cc != nil {
		cc.Certificate = plainPEM(cc.Certificate)
		cc.Key = NewSecret(plainPEM(cc.Key.Reveal()))
	}
}

// plainPEM decodes a value that is base64 of PEM.
func plainPEM(s string) string {
	if s == "" || strings.Contains(s, "-----BEGIN") {
		return s
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil || !strings.Contains(string(decoded), "-----BEGIN") || !utf8.Valid(decoded) {
		return s
	}
	return string(decoded)
}

// lastGood is the last valid bundle of certificates: a program that launches nodes validates the same cluster's CA for each node.
var lastGood atomic.Pointer[string]

// checkCertificates returns what is wrong with a bundle of certificates.
func checkCertificates(s string) error {
	if good := lastGood.Load(); good != nil && *good == s {
		return nil
	}
	rest, found := []byte(s), 0
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return fmt.Errorf("holds a PEM block %q, want CERTIFICATE", block.Type)
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return fmt.Errorf("certificate %d cannot be parsed: %w", found+1, err)
		}
		found++
	}
	if found == 0 {
		return errors.New("is not a PEM certificate, or the base64 of one")
	}
	if strings.Count(s, "-----BEGIN ") > found {
		return errors.New("has a certificate that is cut off")
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		return errors.New("has text after its last certificate")
	}
	lastGood.Store(&s)
	return nil
}

// checkKey returns what is wrong with a private key, without any part of it.
func checkKey(s string) error {
	for rest := []byte(s); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return errors.New("is not a PEM private key, or the base64 of one")
		}
		switch {
		case block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "":
			return errors.New("is encrypted; use a key without a passphrase")
		case strings.HasSuffix(block.Type, "PRIVATE KEY"):
			return nil
		}
	}
}

// pinFormat is the prefix of a hash (k8s.io/kubernetes, cmd/kubeadm/app/util/pubkeypin).
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

// PinOf returns the pin of a certificate: "sha256:" and the SHA-256 of its SubjectPublicKeyInfo (RFC 7469, 2.4).
func PinOf(certificate *x509.Certificate) string {
	sum := sha256.Sum256(certificate.RawSubjectPublicKeyInfo)
	return pinFormat + hex.EncodeToString(sum[:])
}
