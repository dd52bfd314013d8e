package tlsbootstrap

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"reflect"
	"testing"
)

// fixed is the key with the private number 1, so that its name can be compared.
func fixed() *Key {
	number := make([]byte, 32)
	number[31] = 1
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), number)
	if err != nil {
		panic(err)
	}
	return &Key{key}
}

// A request equals the kubelet's: its content and its name.
func TestRequest(t *testing.T) {
	for name, c := range map[string]struct {
		node   string
		usages []string
		// want is the name from client-go's digestedName (util/certificate/csr), computed without this package.
		want string
	}{
		"a newer kubelet":  {"node-1", Usages(false), "node-csr-_v0uUYH0FxEZl7ih8xa2llEqEdqKgeMs3eas458m8EE"},
		"an older kubelet": {"node-1", Usages(true), "node-csr-0HE_XqBhAY1kSHJ5eDrJTP6GS3ax43ySOd6aO5CtlbI"},
		"another node":     {"node-2", Usages(false), "node-csr-qAMB08rpHRhDXh0zEta0b_bm3xYmyn5IWIP7ivFOhYA"},
	} {
		t.Run(name, func(t *testing.T) {
			key := fixed()
			request, err := key.Request(c.node, c.usages)
			if err != nil {
				t.Fatal(err)
			}
			if request.Name != c.want {
				t.Errorf("the name is %s, want %s", request.Name, c.want)
			}
			var object struct {
				APIVersion, Kind string
				Metadata         map[string]string
				Spec             struct {
					Request    []byte
					SignerName string
					Usages     []string
				}
			}
			if err := json.Unmarshal(request.Body, &object); err != nil {
				t.Fatal(err)
			}
			block, rest := pem.Decode(object.Spec.Request)
			if block == nil || block.Type != "CERTIFICATE REQUEST" || len(rest) > 0 {
				t.Fatalf("the request is %s", object.Spec.Request)
			}
			asked, err := x509.ParseCertificateRequest(block.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			if err := asked.CheckSignature(); err != nil {
				t.Error(err)
			}
			if got, want := asked.Subject.String(), "CN=system:node:"+c.node+",O=system:nodes"; got != want {
				t.Errorf("the subject is %s, want %s", got, want)
			}
			if !key.private.PublicKey.Equal(asked.PublicKey) || len(asked.DNSNames)+len(asked.IPAddresses) > 0 {
				t.Error("another key, or names")
			}
			object.Spec.Request = nil
			if got := []any{object.APIVersion, object.Kind, object.Metadata, object.Spec.SignerName, object.Spec.Usages}; !reflect.DeepEqual(got, []any{
				"certificates.k8s.io/v1", "CertificateSigningRequest", map[string]string{"name": c.want},
				"kubernetes.io/kube-apiserver-client-kubelet", c.usages,
			}) {
				t.Errorf("asks for %v", got)
			}
			again, err := key.Request(c.node, c.usages)
			if err != nil || again.Name != request.Name {
				t.Errorf("a second request of the same is another: %s, %v", again.Name, err)
			}
		})
	}
}

// Two keys give two requests, and neither key is in its request.
func TestKeys(t *testing.T) {
	seen := make(map[string]bool)
	for range 8 {
		key, err := NewKey()
		if err != nil {
			t.Fatal(err)
		}
		request, err := key.Request("node-1", Usages(false))
		if err != nil {
			t.Fatal(err)
		}
		if seen[request.Name] {
			t.Error("a name comes twice")
		}
		seen[request.Name] = true
		number, err := key.private.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{string(number), hex.EncodeToString(number)} {
			if contains(request.Body, form) {
				t.Error("the private key is sent")
			}
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		key, err := NewKey()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := key.Request("node-1", Usages(false)); err != nil {
			b.Fatal(err)
		}
	}
}
