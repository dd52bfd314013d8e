package tlsbootstrap

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"
)

func contains(data []byte, text string) bool { return bytes.Contains(data, []byte(text)) }

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// signed is a certificate for a key, in PEM.
func signed(t testing.TB, key *ecdsa.PublicKey, edit func(*x509.Certificate)) []byte {
	t.Helper()
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "system:node:node-1", Organization: []string{"system:nodes"}},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if edit != nil {
		edit(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, &x509.Certificate{Subject: pkix.Name{CommonName: "ca"}}, key, signer)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func TestPair(t *testing.T) {
	key := fixed()
	other, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	own := &key.private.PublicKey
	good := signed(t, own, nil)
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: []byte("x")})
	for name, c := range map[string]struct {
		issued []byte
		// chain is how many certificates the pair has. 0 means that the certificate cannot be used, and err is the
		// error.
		chain int
		err   string
	}{
		"one certificate":               {good, 1, ""},
		"with its issuer":               {append(bytes.Clone(good), signed(t, &other.private.PublicKey, nil)...), 2, ""},
		"blanks around it":              {[]byte("\n" + string(good) + "\n \n"), 1, ""},
		"for every use":                 {signed(t, own, func(c *x509.Certificate) { c.ExtKeyUsage = nil }), 1, ""},
		"for any use":                   {signed(t, own, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageAny} }), 1, ""},
		"whose time has not come":       {signed(t, own, func(c *x509.Certificate) { c.NotBefore = now.Add(time.Minute) }), 1, ""},
		"expired":                       {signed(t, own, func(c *x509.Certificate) { c.NotAfter = now.Add(-time.Second) }), 0, "expired at 2026-01-02T03:04:04Z"},
		"for another key":               {signed(t, &other.private.PublicKey, nil), 0, "for another key"},
		"for another node":              {signed(t, own, func(c *x509.Certificate) { c.Subject.CommonName = "system:node:node-2" }), 0, `for "system:node:node-2", not for "system:node:node-1"`},
		"for no member of the group":    {signed(t, own, func(c *x509.Certificate) { c.Subject.Organization = []string{"system:masters"} }), 0, "no member of the group system:nodes"},
		"for servers":                   {signed(t, own, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }), 0, "not for clients"},
		"nothing":                       {nil, 0, "not a certificate in PEM"},
		"no PEM":                        {[]byte("certificate"), 0, "not a certificate in PEM"},
		"something behind":              {append(bytes.Clone(good), "x"...), 0, "not a certificate in PEM"},
		"a key among them":              {append(bytes.Clone(good), keyPEM...), 0, `"EC PRIVATE KEY" among the certificates`},
		"PEM of what is no certificate": {pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")}), 0, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			content, err := key.Pair(c.issued, "node-1", now)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || content != nil {
					t.Errorf("got %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			pair, err := tls.X509KeyPair(content, content) // the kubelet reads it like this
			if err != nil || len(pair.Certificate) != c.chain {
				t.Errorf("%d certificates, %v", len(pair.Certificate), err)
			}
			if !bytes.HasPrefix(content, []byte("-----BEGIN CERTIFICATE-----\n")) || !bytes.HasSuffix(content, []byte("-----END EC PRIVATE KEY-----\n")) {
				t.Error("the key is not last")
			}
		})
	}
}

func TestPairNames(t *testing.T) {
	if got, want := PairName(now), "kubelet-client-2026-01-02-03-04-05.pem"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for name, want := range map[string]bool{
		PairName(now): true, "kubelet-client-x.pem": true, Current: false, "kubelet-server-current.pem": false, "kubelet-client-.key": false,
		"kubelet-client-../x.pem": false, "": false, "a/kubelet-client-1.pem": false, ".kubelet-client-1.pem": false,
	} {
		if IsPairName(name) != want {
			t.Errorf("%s is the name of a pair: %v", name, !want)
		}
	}
}

// Whatever certificate was issued, a program can load the pair, and it is for this key and this Node.
func FuzzPair(f *testing.F) {
	key := fixed()
	f.Add(signed(f, &key.private.PublicKey, nil))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"))
	f.Fuzz(func(t *testing.T, issued []byte) {
		content, err := key.Pair(issued, "node-1", now)
		if err != nil {
			return
		}
		pair, err := tls.X509KeyPair(content, content)
		if err != nil || pair.Leaf.Subject.CommonName != "system:node:node-1" {
			t.Errorf("%v: %s", err, content)
		}
	})
}
