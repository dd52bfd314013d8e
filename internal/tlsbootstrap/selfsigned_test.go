package tlsbootstrap

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"testing"
	"time"
)

// A server can use the pair, and it has the same values as a kubelet's.
func TestSelfSigned(t *testing.T) {
	for _, host := range []string{"node-1", "10.0.0.4", "fd00::4"} {
		certificate, key, err := SelfSigned(host, now)
		if err != nil {
			t.Fatal(err)
		}
		pair, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			t.Fatal(err)
		}
		if len(pair.Certificate) != 2 {
			t.Fatalf("%s: %d certificates, want the kubelet's and its CA's", host, len(pair.Certificate))
		}
		authority, err := x509.ParseCertificate(pair.Certificate[1])
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AddCert(authority)
		at := now.Add(365*24*time.Hour - time.Hour - time.Second)
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, CurrentTime: at}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
		if want := (pkix.Name{CommonName: host + "@1767323045"}); pair.Leaf.Subject.String() != want.String() {
			t.Errorf("subject %s, want %s", pair.Leaf.Subject, want)
		}
		if want := host + "-ca@1767323045"; authority.Subject.CommonName != want || !authority.IsCA || pair.Leaf.IsCA {
			t.Errorf("CA %s, want %s", authority.Subject, want)
		}
		if isIP := net.ParseIP(host) != nil; len(pair.Leaf.IPAddresses) == 1 != isIP || len(pair.Leaf.DNSNames) == 0 != isIP {
			t.Errorf("%s: names %v and addresses %v", host, pair.Leaf.DNSNames, pair.Leaf.IPAddresses)
		}
		if !pair.Leaf.NotBefore.Equal(now.Add(-time.Hour)) || pair.Leaf.SerialNumber.Cmp(authority.SerialNumber) == 0 {
			t.Errorf("%s: not before %s, serial %s", host, pair.Leaf.NotBefore, pair.Leaf.SerialNumber)
		}
	}
	if _, _, err := SelfSigned("n\u00f6de", now); err == nil {
		t.Error("a name that no certificate can be for has got one")
	}
}

// Each pair has another key.
func TestSelfSignedKeys(t *testing.T) {
	one, two := keyOf(t), keyOf(t)
	if one == two {
		t.Error("two pairs have one key")
	}
}

func keyOf(t *testing.T) string {
	t.Helper()
	_, key, err := SelfSigned("node-1", now)
	if err != nil {
		t.Fatal(err)
	}
	return string(key)
}

func BenchmarkSelfSigned(b *testing.B) {
	for b.Loop() {
		if _, _, err := SelfSigned("node-1", now); err != nil {
			b.Fatal(err)
		}
	}
}
