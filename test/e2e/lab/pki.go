package lab

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// PKI is the cluster's certificate authority and the certificates that it has signed, as files.
type PKI struct {
	dir string
	ca  *x509.Certificate
	key crypto.Signer
	// CA is the authority's certificate in PEM.
	CA []byte
}

// life is how long certificates are valid; each lab makes new ones.
const life = 30 * 24 * time.Hour

// NewPKI makes an authority with files in a directory.
func NewPKI(dir, name string) (*PKI, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		// A machine's clock may be behind.
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(life),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	p := &PKI{dir: dir, key: key}
	if p.ca, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	p.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(p.Path("ca.crt"), p.CA, 0o644); err != nil {
		return nil, err
	}
	return p, writeKey(p.Path("ca.key"), key)
}

// Path is the path of a file of the PKI.
func (p *PKI) Path(name string) string { return filepath.Join(p.dir, name) }

// issue signs a certificate for a client and server, as NAME.crt and NAME.key.
func (p *PKI) issue(name, commonName, organization string, addresses ...string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: commonName},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(life),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if organization != "" {
		template.Subject.Organization = []string{organization}
	}
	for _, a := range addresses {
		if address := net.ParseIP(a); address != nil {
			template.IPAddresses = append(template.IPAddresses, address)
		} else {
			template.DNSNames = append(template.DNSNames, a)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, p.ca, key.Public(), p.key)
	if err != nil {
		return err
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(p.Path(name+".crt"), certificate, 0o644); err != nil {
		return err
	}
	return writeKey(p.Path(name+".key"), key)
}

// serviceAccountKey makes the key that signs service accounts' tokens.
func (p *PKI) serviceAccountKey() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	if err := os.WriteFile(p.Path("sa.pub"), block, 0o644); err != nil {
		return err
	}
	return writeKey(p.Path("sa.key"), key)
}

func writeKey(path string, key crypto.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
}

// kubeconfig writes NAME.kubeconfig for the client certificate of that name.
func (p *PKI) kubeconfig(name, server string) error {
	return p.writeKubeconfig(p.Path(name+".kubeconfig"), name, server)
}

// KubeconfigFor writes a kubeconfig for a client certificate and a server with another address than
// the cluster's own, and returns its path.
func (p *PKI) KubeconfigFor(name, server string) (string, error) {
	path := p.Path(name + "-outside.kubeconfig")
	return path, p.writeKubeconfig(path, name, server)
}

func (p *PKI) writeKubeconfig(path, name, server string) error {
	document, err := json.MarshalIndent(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "e2e",
		"clusters": []any{map[string]any{"name": "e2e", "cluster": map[string]any{
			"server": server, "certificate-authority": p.Path("ca.crt"),
		}}},
		"users": []any{map[string]any{"name": name, "user": map[string]any{
			"client-certificate": p.Path(name + ".crt"), "client-key": p.Path(name + ".key"),
		}}},
		"contexts": []any{map[string]any{"name": "e2e", "context": map[string]any{"cluster": "e2e", "user": name}}},
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", name, err)
	}
	return os.WriteFile(path, document, 0o600)
}
