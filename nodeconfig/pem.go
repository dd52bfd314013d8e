package nodeconfig

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// normalizePEM brings every certificate and key to plain PEM: documents carry them as PEM or as
// base64 of it. What is neither is left for Repair to name.
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

// plainPEM undoes base64 where the value is base64 of PEM.
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

// lastGood is the bundle of certificates that was found good last: who launches nodes has the authority of one cluster checked for each.
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

// checkKey returns what is wrong with a private key, without a word of it.
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
