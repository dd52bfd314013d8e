package fetch_test

import (
	"bytes"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/slipway-dev/slipway/internal/fetch"
)

// BenchmarkGet downloads 16 MiB from a server on this machine, and checks the digest.
func BenchmarkGet(b *testing.B) {
	data := bytes.Repeat(archive, 16<<20/len(archive)+1)[:16<<20]
	server := httptest.NewServer(whole(data))
	defer server.Close()
	into := newFile(b, nil)
	client := &fetch.Client{}
	r := fetch.Request{From: []string{server.URL}, SHA256: sum(data), MaxBytes: 16 << 20}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := into.Truncate(0); err != nil {
			b.Fatal(err)
		}
		if _, err := client.Get(b.Context(), r, into); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRegistry downloads a small file from a registry on this machine: the cost of a manifest and TLS.
func BenchmarkRegistry(b *testing.B) {
	server := httptest.NewTLSServer(newArtifact("tool", archive))
	defer server.Close()
	into := newFile(b, nil)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}}
	client := &fetch.Client{Transport: transport}
	b.SetBytes(int64(len(archive)))
	b.ReportAllocs()
	for b.Loop() {
		if err := into.Truncate(0); err != nil {
			b.Fatal(err)
		}
		if _, err := client.Get(b.Context(), fetch.Request{From: []string{server.Listener.Addr().String() + "/aks/tool:v1"}, MaxBytes: 16 << 20}, into); err != nil {
			b.Fatal(err)
		}
	}
}
