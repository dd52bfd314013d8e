package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/test/fakecloud"
)

// blobs answers as a repository with one file, whatever its name.
func blobs(content []byte) http.HandlerFunc {
	digest := func(data []byte) string {
		sum := sha256.Sum256(data)
		return "sha256:" + hex.EncodeToString(sum[:])
	}
	manifest, err := json.Marshal(map[string]any{"schemaVersion": 2, "layers": []any{map[string]any{"digest": digest(content), "size": len(content)}}})
	if err != nil {
		panic(err)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		answer := content
		if strings.Contains(r.URL.Path, "/manifests/") {
			answer = manifest
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Write(answer)
	}
}

// Four parallel downloads from a registry that requires the machine's identity need one token and one exchange in
// total. The machine's next downloads need no other.
func TestDownloadsShareLogin(t *testing.T) {
	const client, tenant, access = "11111111-1111-1111-1111-111111111111", "33333333-3333-3333-3333-333333333333", "access"
	content, _ := packed(t, "kubernetes/node/bin/kubelet=the kubelet")
	azure := &fakecloud.AzureRegistry{Tenant: tenant, AccessToken: access, Content: blobs(content)}
	var exchanges, tokens atomic.Int32
	registry := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/oauth2/exchange" {
			exchanges.Add(1)
		}
		azure.ServeHTTP(w, r)
	}))
	defer registry.Close()
	azure.Host = registry.Listener.Addr().String()
	cloud := fakecloud.New(fakecloud.Instance{AccessToken: access, Identity: client, Audiences: []string{"https://containerregistry.azure.net"}}).Metadata()
	metadata := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tokens.Add(1)
		cloud.ServeHTTP(w, r)
	}))
	defer metadata.Close()
	m, _ := machineIn(t)
	m.logins = &logins{dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, metadata.Listener.Addr().String())
	}}
	authority := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: registry.Certificate().Raw}))
	for round := range 2 {
		var wait sync.WaitGroup
		for i := range 4 {
			d := wanted(fmt.Sprintf("%s/aks/tool%d-%d:v1", azure.Host, round, i))
			d.Component = fmt.Sprintf("tool%d", i)
			d.Reach = resource.Reach{Authorities: authority, Identity: &resource.RegistryIdentity{Registry: azure.Host, ClientID: client, TenantID: tenant}}
			wait.Go(func() {
				if origin, err := m.Download(t.Context(), d, nothing); err != nil || !origin.Checked {
					t.Errorf("%s: %+v, %v", d.Component, origin, err)
				}
			})
		}
		if wait.Wait(); tokens.Load() != 1 || exchanges.Load() != 1 {
			t.Errorf("round %d: %d requests for a token, %d exchanges", round, tokens.Load(), exchanges.Load())
		}
	}
}
