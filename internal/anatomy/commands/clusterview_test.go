package commands

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// clusterServer is an API server with one Node, which wants a token.
func clusterServer(t *testing.T) (url, authority string) {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch {
		case q.Header.Get("Authorization") != "Bearer secret-token":
			http.Error(w, "who are you", http.StatusUnauthorized)
		case q.URL.Path == "/api/v1/nodes/node-1":
			fmt.Fprint(w, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-1","creationTimestamp":"2025-11-26T22:13:36Z"}}`)
		case q.URL.Path == "/api/v1/namespaces/default/events":
			fmt.Fprint(w, `{"apiVersion":"v1","kind":"EventList","items":[{"metadata":{"name":"e"},"involvedObject":{"kind":"Node","name":"node-1"},"reason":"Starting","firstTimestamp":"2025-11-26T22:13:35Z"}]}`)
		case strings.HasSuffix(q.URL.Path, "/certificatesigningrequests"):
			fmt.Fprint(w, `{"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequestList","items":[]}`)
		default:
			http.NotFound(w, q)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

// kubeconfigFile writes a kubeconfig, with the authority in a file beside it.
func kubeconfigFile(t *testing.T, url, authority, user string) string {
	t.Helper()
	ca := writeFile(t, "ca.crt", authority)
	return writeFile(t, "config", fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: u, user: %s}]
`, url, ca, user))
}

func TestAnatomyOfACluster(t *testing.T) {
	url, authority := clusterServer(t)
	log := writeFile(t, "cloud-init.log", "2025-11-26 22:13:25,500 - main.py[DEBUG]: Cloud-init v. 25.1 running 'init-local' at Wed, 26 Nov 2025 22:13:25 +0000. Up 5.50 seconds.\n")
	config := kubeconfigFile(t, url, authority, "{token: secret-token}")
	got := runHere(log, "--kubeconfig", config, "--node", "node-1", "-o", "json")
	for _, want := range []string{`"name": "Node created"`, `"name": "cluster event Starting"`, `"atUs": 16000000`} {
		if got.code != 0 || !strings.Contains(got.out, want) {
			t.Errorf("code %d, no %s: %s%s", got.code, want, got.out, got.err)
		}
	}
	for _, c := range []struct{ config, node, want string }{
		{config, "", "name its Node with --node"},
		{kubeconfigFile(t, url, authority, "{token: another-secret}"), "node-1", "the API server answers 401"},
		{kubeconfigFile(t, url, authority, "{exec: {command: kubelogin}}"), "node-1", "credential plug-in"},
		{kubeconfigFile(t, url, "no PEM", "{token: t}"), "node-1", "is not PEM"},
		{kubeconfigFile(t, "http://x", authority, "{token: t}"), "node-1", "no https URL"},
		{writeFile(t, "config", "current-context: there\n"), "node-1", `has no context "there", which is its current one`},
		{writeFile(t, "config", "contexts: 7\n"), "node-1", "has no context"},
	} {
		got := runHere(log, "--kubeconfig", c.config, "--node", c.node)
		if got.code != 1 || !strings.Contains(got.err, c.want) || strings.Contains(got.err, "secret") {
			t.Errorf("code %d, want %q: %s", got.code, c.want, got.err)
		}
	}
}
