package fetch_test

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/slipway-dev/slipway/internal/fetch"
)

// Another implementation of a registry serves what was pushed to it, by its tag and by its platform.
func TestAnotherRegistry(t *testing.T) {
	n := newNetwork(t)
	n.serve(registryURL, registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	source := index([3]string{"linux", "arm64", "ubuntu 24.04"}, [3]string{"linux", "amd64", "ubuntu 24.04"})
	push := func(method, path, kind string, data []byte) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, registryURL+"/v2/aks/tool/"+path, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", kind)
		response, err := n.transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusCreated {
			body, _ := io.ReadAll(response.Body)
			t.Fatalf("%s %s: %s: %s", method, path, response.Status, body)
		}
	}
	for digest, data := range source.blobs {
		push(http.MethodPost, "blobs/uploads/?digest="+digest, "application/octet-stream", data)
	}
	for name, data := range source.manifests {
		if name != tag {
			push(http.MethodPut, "manifests/"+name, manifestType, data)
		}
	}
	push(http.MethodPut, "manifests/"+tag, indexType, source.manifests[tag])
	n.asked()
	checkRegistry(t, n, n.client(), fetch.Request{From: []string{artifactFrom}, Platform: amd64, MaxBytes: 1 << 20}, registryCase{asked: 3})
	checkRegistry(t, n, n.client(), fetch.Request{From: []string{artifactFrom + "2"}, Platform: amd64, MaxBytes: 1 << 20}, registryCase{cause: fetch.NotFound, asked: 1})
	checkRegistry(t, n, n.client(), fetch.Request{From: []string{artifactFrom}, Platform: fetch.Platform{OS: "linux", Architecture: "s390x"}}, registryCase{cause: fetch.WrongContent, text: "nothing for linux/s390x", asked: 1})
}
