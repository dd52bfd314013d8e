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

// lifetime is the validity of a kubelet's self-signed certificate, and allowance the part of it before its creation:
// clocks differ (client-go: util/cert, GenerateSelfSignedCertKey).
const (
	lifetime  = 365 * 24 * time.Hour
	allowance = time.Hour
)

// SelfSigned creates the serving certificate that a kubelet creates for itself, and its key, in PEM: for a host with
// this name, signed by a CA that follows it and whose key is discarded (client-go: util/cert,
// GenerateSelfSignedCertKey). Its keys are elliptic curve keys, like those of the kubelet's other certificates. The
// kubelet itself creates two RSA keys for it, which takes it a fifth of a second, and often more.
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

// template is the common part of both certificates. Without a serial number, x509 gives each certificate a random one.
func template(name string, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             now.Add(-allowance),
		NotAfter:              now.Add(lifetime - allowance),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
	}
}
