package lab

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestIsolated makes all requests of a machine: it is refused at first, exchanges its identity's token, and gets the package for
// its system.
func TestIsolated(t *testing.T) {
	i := newIsolated(nil, "identity")
	p := Package{
		Repository: "aks/packages/kubernetes/kubelet", Tag: "v1.36.3", Title: "kubelet.deb", Type: "application/vnd.debian.binary-package",
		Content: []byte("a package"), Architecture: "amd64", OSVersion: "debian 12",
	}
	if err := i.Publish(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(i.door)
	defer server.Close()

	get := func(path, token string) (int, string) {
		request, _ := http.NewRequest(http.MethodGet, server.URL+path, nil)
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, _ := io.ReadAll(answer.Body)
		return answer.StatusCode, string(body)
	}
	exchange := func(path string, form url.Values) map[string]string {
		answer, err := http.PostForm(server.URL+path, form)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		var tokens map[string]string
		if answer.StatusCode == http.StatusOK && json.NewDecoder(answer.Body).Decode(&tokens) != nil {
			t.Errorf("%s: no JSON", path)
		}
		return tokens
	}

	if code, _ := get("/v2/"+p.Repository+"/manifests/"+p.Tag, ""); code != http.StatusUnauthorized {
		t.Errorf("a stranger gets %d", code)
	}
	refresh := exchange("/oauth2/exchange", url.Values{"grant_type": {"access_token"}, "service": {IsolatedRegistry}, "tenant": {tenant}, "access_token": {"identity"}})["refresh_token"]
	access := exchange("/oauth2/token", url.Values{"grant_type": {"refresh_token"}, "service": {IsolatedRegistry}, "refresh_token": {refresh}, "scope": {"repository:" + p.Repository + ":pull"}})["access_token"]
	code, index := get("/v2/"+p.Repository+"/manifests/"+p.Tag, access)
	var document struct{ Manifests []struct{ Digest string } }
	if err := json.Unmarshal([]byte(index), &document); code != http.StatusOK || err != nil || len(document.Manifests) != 1 || !strings.Contains(index, `"os.version":"debian 12"`) {
		t.Fatalf("the index is %d %s, %v", code, index, err)
	}
	_, text := get("/v2/"+p.Repository+"/manifests/"+document.Manifests[0].Digest, access)
	var manifest struct{ Layers []struct{ Digest string } }
	if err := json.Unmarshal([]byte(text), &manifest); err != nil || len(manifest.Layers) != 1 {
		t.Fatalf("the manifest is %s, %v", text, err)
	}
	if code, content := get("/v2/"+p.Repository+"/blobs/"+manifest.Layers[0].Digest, access); code != http.StatusOK || content != "a package" {
		t.Errorf("the package is %d %q", code, content)
	}

	p.Damaged = true
	if err := i.Publish(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if code, content := get("/v2/"+p.Repository+"/blobs/"+manifest.Layers[0].Digest, access); code != http.StatusOK || content != "\xe1 package" {
		t.Errorf("the damaged package is %d %q", code, content)
	}
	i.Refuse()
	if code, _ := get("/v2/"+p.Repository+"/manifests/"+p.Tag, access); code != http.StatusUnauthorized {
		t.Errorf("an identity that may do nothing gets %d", code)
	}
	i.Clear()
	if code, _ := get("/v2/"+p.Repository+"/manifests/"+p.Tag, access); code != http.StatusUnauthorized {
		t.Errorf("the old token gets %d", code)
	}
}
