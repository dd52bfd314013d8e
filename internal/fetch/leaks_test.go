package fetch_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/fetch"
)

// The secrets of a download: the refresh token of the machine's login, the registry's token, and the secret in a URL.
const (
	secretRefresh = "CANARY-refresh"
	secretBearer  = "CANARY-bearer"
	secretURL     = "CANARY-url"
)

// leak is one way in which a hostile server, or one that it names, could get another server's secret.
type leak struct {
	name string
	// realm is where the registry sends token requests. Empty means to itself.
	realm string
	// token answers requests for a token with a refresh token. If nil, it gives a token.
	token http.HandlerFunc
	// manifest and blob answer for these. If nil, they give the right answer.
	manifest, blob http.HandlerFunc
	// works reports that nothing is hostile: the download succeeds, and the secrets reach their server.
	works bool
	// file answers for a URL with a password that is downloaded instead of the registry's artifact.
	file http.HandlerFunc
}

func redirect(to string, code int) http.HandlerFunc {
	return http.RedirectHandler(to, code).ServeHTTP
}

func challenging(realm string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+realm+`",service="registry.test",scope="repository:a/b:pull"`)
		w.WriteHeader(http.StatusUnauthorized)
	}
}

var leaks = []leak{
	{name: "a login", works: true},
	{name: "a URL with a password", works: true, file: gives("hello")},
	{name: "realm of another host", realm: "https://evil.test/token"},
	{name: "realm without TLS", realm: "http://registry.test/token"},
	{name: "realm with the host as user", realm: "https://registry.test@evil.test/token"},
	{name: "realm of another port", realm: "https://registry.test:8443/token"},
	{name: "realm in other letters", realm: "https://REGISTRY.test/token"},
	{name: "realm with a dot", realm: "https://registry.test./token"},
	{name: "realm with the usual port", realm: "https://registry.test:443/token"},
	{name: "realm with a wide dot", realm: "https://registry．test/token"},
	{name: "realm below the host", realm: "https://sub.registry.test/token"},
	{name: "realm with a line break", realm: "https://registry.test/token\r\nX: https://evil.test"},
	{name: "token redirects by 307", token: redirect("https://evil.test/token", 307)},
	{name: "token redirects by 308 without TLS", token: redirect("http://registry.test/token", 308)},
	{name: "token redirects by 301", token: func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://evil.test/token?"+r.Form.Encode(), http.StatusMovedPermanently)
	}},
	{name: "token has a line break", token: gives(`{"access_token":"` + secretBearer + `\r\nX-Evil: 1"}`)},
	{name: "token is refused with its text", token: func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no: "+r.Form.Encode(), http.StatusUnauthorized)
	}},
	{name: "manifest redirects to another host", manifest: redirect("https://evil.test/manifest", 302)},
	{name: "manifest redirects below the host", manifest: redirect("https://sub.registry.test/manifest", 307)},
	{name: "manifest is too large", manifest: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 5<<20)) }},
	{name: "manifest repeats the token", manifest: func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, r.Header.Get("Authorization"), http.StatusForbidden)
	}},
	{name: "blob redirects to another host", blob: redirect("https://evil.test/blob", 307)},
	{name: "blob redirects below the host", blob: redirect("https://sub.registry.test/blob", 307)},
	{name: "blob redirects to another port", blob: redirect("https://registry.test:8443/blob", 307)},
	{name: "blob redirects without TLS", blob: redirect("http://registry.test/blob", 307)},
	{name: "blob redirects to a file", blob: redirect("file:///etc/passwd", 307)},
	{name: "blob redirects to a script", blob: redirect("javascript:alert(1)", 307)},
	{name: "blob redirects to a host that challenges", blob: redirect("https://evil.test/challenge", 307)},
	{name: "blob redirects to another host and back", blob: redirect("https://evil.test/back", 307)},
	{name: "URL redirects to another host", file: redirect("https://evil.test/x", 302)},
	{name: "URL redirects without TLS", file: redirect("http://registry.test/x", 302)},
	{name: "URL redirects below the host", file: redirect("https://sub.registry.test/x", 307)},
	{name: "URL wants a login", file: challenging("https://evil.test/token")},
	{name: "URL is refused with its text", file: func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		http.Error(w, user+password+r.URL.RawQuery, http.StatusForbidden)
	}},
}

// TestSecretsStayWithTheirServer: a secret reaches only its server, by TLS, and no error repeats it.
func TestSecretsStayWithTheirServer(t *testing.T) {
	for _, l := range leaks {
		t.Run(l.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { l.check(t) })
		})
	}
}

func (l *leak) check(t *testing.T) {
	n := newNetwork(t)
	var mu sync.Mutex
	var leaked []string
	arrived := false
	home := l.home()
	for _, at := range []string{registryURL, "http://registry.test", registryURL + ":8443", "https://sub.registry.test", "https://evil.test"} {
		n.serve(at, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_ = r.ParseForm()
			user, password, _ := r.BasicAuth()
			// The whole request, except the path, and the decoded base64.
			all := fmt.Sprint(r.Header, r.Form, r.URL.RawQuery, user, password)
			if at != registryURL && strings.Contains(all, "CANARY") {
				mu.Lock()
				leaked = append(leaked, r.Method+" "+at+r.URL.Path+" has "+all)
				mu.Unlock()
			}
			if at != registryURL {
				l.elsewhere(w, r)
				return
			} else if strings.Contains(all, "CANARY") {
				mu.Lock()
				arrived = true
				mu.Unlock()
			}
			home(w, r)
		}))
	}
	client := n.client()
	client.Login = func(context.Context, string, string) (string, error) { return secretRefresh, nil }
	client.Wait = func(context.Context, time.Duration) error { return context.DeadlineExceeded }
	from := "registry.test/a/b:v1"
	if l.file != nil {
		from = "https://user:" + secretURL + "@registry.test/file?sig=" + secretURL
	}
	_, err := client.Get(t.Context(), fetch.Request{From: []string{from}, MaxBytes: 1 << 20}, newFile(t, nil))
	if err != nil && strings.Contains(err.Error(), "CANARY") {
		t.Errorf("the error says %v", err)
	}
	if l.works && (err != nil || !arrived) {
		t.Errorf("%v; the secrets have arrived: %v", err, arrived)
	}
	if len(leaked) > 0 {
		t.Errorf("leaked: %q", leaked)
	}
}

// home answers as the registry.
func (l *leak) home() http.HandlerFunc {
	data := []byte("hello")
	sum := sha256.Sum256(data)
	manifest := gives(`{"mediaType":"application/vnd.oci.image.manifest.v1+json","layers":[{"digest":"sha256:%s","size":5}]}`, hex.EncodeToString(sum[:]))
	orElse := func(own, usual http.HandlerFunc) http.HandlerFunc {
		if own != nil {
			return own
		}
		return usual
	}
	realm := l.realm
	if realm == "" {
		realm = registryURL + "/token"
	}
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/file":
			l.file(w, r)
		case r.URL.Path == "/token" && r.Method == http.MethodPost:
			orElse(l.token, gives(`{"access_token":"%s"}`, secretBearer))(w, r)
		case r.URL.Path == "/token":
			w.WriteHeader(http.StatusUnauthorized) // it requires a login
		case r.Header.Get("Authorization") == "":
			challenging(realm)(w, r)
		case strings.Contains(r.URL.Path, "/manifests/"):
			orElse(l.manifest, manifest)(w, r)
		default:
			orElse(l.blob, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) })(w, r)
		}
	}
}

// elsewhere answers as a server that tries to get secrets.
func (l *leak) elsewhere(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/challenge" && r.Header.Get("Authorization") == "":
		challenging("https://evil.test/token")(w, r)
	case r.URL.Path == "/back":
		http.Redirect(w, r, registryURL+"/v2/a/b/blobs/x", http.StatusTemporaryRedirect)
	case r.URL.Path == "/token":
		_, _ = w.Write([]byte(`{"access_token":"other","token":"other"}`))
	default:
		_, _ = w.Write([]byte("hello"))
	}
}
