package tlsbootstrap

import (
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net/netip"
	"time"
)

// lifetime is how long a kubelet's own certificate is valid, allowance how long it was before it was made: clocks differ
// (client-go: util/cert, GenerateSelfSignedCertKey).
const (
	lifetime  = 365 * 24 * time.Hour
	allowance = time.Hour
)

// SelfSigned makes the serving certificate that a kubelet makes for itself, and its key, in PEM: for a host by that name,
// signed by a CA whose key nobody keeps, which follows it (client-go: util/cert, GenerateSelfSignedCertKey). Its keys
// are on an elliptic curve, as those of the kubelet's other certificates are. The kubelet itself makes two of RSA for it, which
// takes it a fifth of a second, and often more.
func SelfSigned(host string, now time.Time) (certificate, key []byte, err error) {
	authority, err := NewKey()
	if err != nil {
		return nil, nil, err
	}
	own, err := NewKey()
	if err != nil {
		return nil, nil, err
	}
	issuer := template(fmt.Sprintf("%s-ca@%d", host, now.Unix()), now)
	issuer.KeyUsage |= x509.KeyUsageCertSign
	issuer.IsCA = true
	leaf := template(fmt.Sprintf("%s@%d", host, now.Unix()), now)
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if address, err := netip.ParseAddr(host); err == nil {
		leaf.IPAddresses = append(leaf.IPAddresses, address.AsSlice())
	} else {
		leaf.DNSNames = []string{host}
	}
	for _, signed := range []struct {
		certificate *x509.Certificate
		key         *Key
	}{{leaf, own}, {issuer, authority}} {
		der, err := x509.CreateCertificate(rand.Reader, signed.certificate, issuer, signed.key.private.Public(), authority.private)
		if err != nil {
			return nil, nil, fmt.Errorf("a serving certificate for %.80q: %w", host, err)
		}
		certificate = append(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	key, err = own.encoded()
	return certificate, key, err
}

// template is what both certificates have in common. Without a serial number, x509 gives each one of its own.
func template(name string, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             now.Add(-allowance),
		NotAfter:              now.Add(lifetime - allowance),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
	}
}
