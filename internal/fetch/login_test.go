package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/fetch"
	"github.com/slipway-dev/slipway/test/fakecloud"
)

const registryURL = "https://registry.test"

// realm is a registry that requires a certain token and rejects every other one. It also answers token requests.
type realm struct {
	challenge string
	// tokens answers below /token.
	tokens http.HandlerFunc
	next   http.Handler
}

func (r realm) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	switch {
	case request.URL.Path == "/token":
		r.tokens(w, request)
	case request.Header.Get("Authorization") == "Bearer good":
		r.next.ServeHTTP(w, request)
	default:
		w.Header().Add("WWW-Authenticate", "Negotiate")
		w.Header().Add("WWW-Authenticate", r.challenge)
		w.WriteHeader(http.StatusUnauthorized)
	}
}

// gives answers with a document.
func gives(format string, args ...any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, format, args...) }
}

// byMethod gives anonymous requests one answer, and requests with the refresh token another one.
func byMethod(everybody, knownOnly http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet && r.FormValue("service") == "a,b" && r.FormValue("scope") == "repository:aks/tool:pull":
			everybody(w, r)
		case r.Method == http.MethodPost && r.PostFormValue("grant_type") == "refresh_token" && r.PostFormValue("refresh_token") == canary &&
			r.PostFormValue("service") == "a,b" && r.URL.RawQuery == "":
			knownOnly(w, r)
		default:
			w.WriteHeader(http.StatusBadRequest)
		}
	}
}

const challenge = `Bearer realm="https://registry.test/token",service="a,b",scope="repository:aks/tool:pull"`

// loginCase is a registry that requires authentication.
type loginCase struct {
	name      string
	challenge string
	everybody http.HandlerFunc
	known     http.HandlerFunc
	cause     fetch.Cause
	text      string
	asked     int
	// logins is how often Login is called: a second time if its token is rejected.
	logins int
}

func loginCases() []loginCase {
	refuses := status(401)
	return []loginCase{
		{name: "everybody", everybody: gives(`{"token":"good"}`), asked: 4},
		{name: "everybody, by the other name", everybody: gives(`{"access_token":"good","expires_in":300}`), asked: 4},
		{name: "everybody, with a default scope", challenge: `Bearer realm="https://registry.test/token",service="a,b"`, everybody: gives(`{"token":"good"}`), asked: 4},
		{name: "everybody, after a while", everybody: first(1, status(503), gives(`{"token":"good"}`)), asked: 6},
		{name: "everybody, elsewhere", challenge: strings.Replace(challenge, "registry.test", "others.test", 1), asked: 4},
		{name: "one of several ways", challenge: `Basic realm="x, Bearer y", Negotiate YWJj==, ` + challenge, everybody: gives(`{"token":"good"}`), asked: 4},
		{name: "a login", everybody: refuses, known: gives(`{"access_token":"good"}`), asked: 5, logins: 1},
		{name: "a token for everybody that is not enough", everybody: gives(`{"token":"bad"}`), known: gives(`{"access_token":"good"}`), asked: 6, logins: 1},
		{name: "an invalid anonymous token", everybody: gives(`{"token":"a\r\nX: y"}`), known: gives(`{"access_token":"good"}`), asked: 5, logins: 1},
		{name: "a login that is refused", everybody: refuses, known: refuses, cause: fetch.Refused, text: registryURL + "/token: answers 401", asked: 3, logins: 2},
		{name: "a login that is not enough", everybody: refuses, known: gives(`{"access_token":"bad"}`), cause: fetch.Refused, text: "answers 401", asked: 4, logins: 1},
		{name: "a login that gives nothing", everybody: refuses, known: gives(`{}`), cause: fetch.Refused, text: "no token that can be read", asked: 3, logins: 2},
		{name: "a login that gives a page", everybody: refuses, known: gives(`<html>` + canary), cause: fetch.Refused, text: "page", asked: 3, logins: 2},
		{name: "a login that gives " + canary, everybody: refuses, known: gives(`{"access_token":["` + canary), cause: fetch.Refused, text: "no token that can be read", asked: 3, logins: 2},
		{name: "a login that leads elsewhere", everybody: refuses, known: http.RedirectHandler("https://others.test/token", http.StatusTemporaryRedirect).ServeHTTP, cause: fetch.Refused, text: "307", asked: 3, logins: 2},
		{name: "a login for another host", challenge: strings.Replace(challenge, "registry.test", "files.test", 1), cause: fetch.Refused, text: "another host, files.test", asked: 2, logins: 1},
		{name: "a realm that everybody can read", challenge: strings.Replace(challenge, "https", "http", 1), cause: fetch.Refused, text: "https", asked: 1},
		{name: "no realm", challenge: `Bearer service="a"`, cause: fetch.Refused, text: "https", asked: 1},
		{name: "a password", challenge: `Basic realm="x", Digest realm="y"`, cause: fetch.Refused, text: "wants a login", asked: 1},
		{name: "no challenge", challenge: ",", cause: fetch.Refused, text: "does not say where", asked: 1},
		{name: "a long challenge", challenge: `Bearer x="` + strings.Repeat("x", 9000) + `",` + challenge[7:], cause: fetch.Refused, text: "does not say where", asked: 1},
	}
}

func TestLogins(t *testing.T) {
	for _, c := range loginCases() {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t)
				if c.challenge == "" {
					c.challenge = challenge
				}
				n.serve(registryURL, realm{c.challenge, byMethod(orRefuse(c.everybody), orRefuse(c.known)), newArtifact("tool", archive)})
				n.serve(others, realm{"", byMethod(gives(`{"token":"good"}`), status(500)), nil})
				n.serve(files, realm{"", byMethod(status(401), status(500)), nil})
				client, logins := n.client(), 0
				client.Login = func(_ context.Context, host, _ string) (string, error) {
					if logins++; host != "registry.test" {
						t.Errorf("a login for %q", host)
					}
					return canary, nil
				}
				r := fetch.Request{From: []string{artifactFrom}, MaxBytes: 1 << 20}
				checkRegistry(t, n, client, r, registryCase{cause: c.cause, text: c.text, asked: c.asked})
				if logins != c.logins {
					t.Errorf("%d logins, want %d", logins, c.logins)
				}
			})
		})
	}
}

func orRefuse(handler http.HandlerFunc) http.HandlerFunc {
	if handler == nil {
		return status(http.StatusForbidden)
	}
	return handler
}

// passwords is a registry that takes one user, for a token or with each request.
type passwords struct {
	challenge string
	next      http.Handler
}

func (p passwords) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	known := user == "someone" && password == canary
	switch {
	case r.URL.Path == "/token" && known && r.Method == http.MethodGet && r.FormValue("service") == "a":
		fmt.Fprint(w, `{"token":"good"}`)
	case user == "forbidden":
		w.WriteHeader(http.StatusForbidden)
	case r.URL.Path != "/token" && (known && strings.HasPrefix(p.challenge, "Basic") || r.Header.Get("Authorization") == "Bearer good"):
		p.next.ServeHTTP(w, r)
	default:
		w.Header().Set("WWW-Authenticate", p.challenge)
		w.WriteHeader(http.StatusUnauthorized)
	}
}

// A registry that wants a user and a password gets them: at its own host, at the host that gives its tokens, or with each request.
func TestPasswords(t *testing.T) {
	const own, elsewhere, basic = `Bearer realm="https://registry.test/token",service="a"`, `Bearer realm="https://others.test/token",service="a"`, `Basic realm="x"`
	for _, c := range []struct {
		name, challenge, user, password string
		fails                           error
		leads                           bool // the host that gives tokens redirects to another one
		cause                           fetch.Cause
		text                            string
		asked                           int
	}{
		{name: "a token", challenge: own, user: "someone", password: canary, asked: 5},
		{name: "a token of another host", challenge: elsewhere, user: "someone", password: canary, asked: 5},
		{name: "a token that leads elsewhere", leads: true, challenge: own, user: "someone", password: canary, cause: fetch.Refused, text: "https://registry.test/token: answers 401", asked: 5},
		{name: "with each request", challenge: basic, user: "someone", password: canary, asked: 3},
		{name: "a wrong password for a token", challenge: own, user: "someone", password: canary + "x", cause: fetch.Refused, text: "https://registry.test/token: answers 401", asked: 3},
		{name: "a wrong password with each request", challenge: basic, user: "someone", password: canary + "x", cause: fetch.Refused, text: "answers 401", asked: 2},
		{name: "a user who may not read", challenge: basic, user: "forbidden", password: canary, cause: fetch.Refused, text: "answers 403", asked: 2},
		{name: "no password for a token", challenge: own, cause: fetch.Refused, text: "answers 401", asked: 2},
		{name: "no password with each request", challenge: basic, cause: fetch.Refused, text: "wants a login with a user and a password", asked: 1},
		{name: "no way to the password", challenge: basic, fails: errors.New("no helper"), cause: fetch.Refused, text: "log in: no helper", asked: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t)
				registry := passwords{c.challenge, newArtifact("tool", archive)}
				n.serve(registryURL, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if c.leads && r.URL.Path == "/token" {
						http.Redirect(w, r, others+r.URL.RequestURI(), http.StatusTemporaryRedirect)
						return
					}
					registry.ServeHTTP(w, r)
				}))
				n.serve(others, registry)
				client := n.client()
				client.Login = func(context.Context, string, string) (string, error) { return "", nil }
				client.Password = func(_ context.Context, host string) (string, string, error) {
					if host != "registry.test" {
						t.Errorf("a password for %q", host)
					}
					return c.user, c.password, c.fails
				}
				checkRegistry(t, n, client, fetch.Request{From: []string{artifactFrom}, MaxBytes: 1 << 20}, registryCase{cause: c.cause, text: c.text, asked: c.asked})
			})
		})
	}
}

// If a client has no login, or an empty one, the error has the registry's reason.
func TestNoLogin(t *testing.T) {
	for _, login := range []func(context.Context, string, string) (string, error){nil, func(context.Context, string, string) (string, error) { return "", nil }} {
		n := newNetwork(t)
		n.serve(registryURL, realm{challenge, status(401), nil})
		client := n.client()
		client.Login = login
		checkRegistry(t, n, client, fetch.Request{From: []string{artifactFrom}}, registryCase{cause: fetch.Refused, text: "answers 401 Unauthorized", asked: 2})
	}
	n := newNetwork(t)
	n.serve(registryURL, realm{challenge, status(401), nil})
	client := n.client()
	broken := errors.New("no identity")
	client.Login = func(context.Context, string, string) (string, error) { return "", broken }
	if _, err := client.Get(t.Context(), fetch.Request{From: []string{artifactFrom}}, newFile(t, nil)); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// The token and the blob: the token is not sent to the storage that a registry redirects to. If it expires in the
// middle of a file, it is renewed.
func TestTokenStaysAndIsRenewed(t *testing.T) {
	n := newNetwork(t)
	artifact := newArtifact("tool", archive)
	storage := cut(100<<10, artifact)
	azure := &fakecloud.AzureRegistry{Host: "registry.test", Anonymous: true}
	azure.Content = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/blobs/") {
			http.Redirect(w, r, "https://storage.registry.test"+r.URL.Path+"?sig="+canary, http.StatusTemporaryRedirect)
			return
		}
		artifact.ServeHTTP(w, r)
	})
	n.serve(registryURL, azure)
	n.serve("https://storage.registry.test", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.FormValue("sig") != canary {
			t.Errorf("the storage is sent %q, %q", r.Header.Get("Authorization"), r.URL)
		}
		azure.Expire()
		storage(w, r)
	}))
	into := newFile(t, nil)
	got, err := atOnce(n).Get(t.Context(), fetch.Request{From: []string{artifactFrom}, MaxBytes: 1 << 20}, into)
	if err != nil || content(t, into) != string(archive) {
		t.Errorf("%+v, %v", got, err)
	}
	tokens := 0
	for _, request := range n.asked() {
		if strings.HasSuffix(request, "/oauth2/token") {
			tokens++
		}
	}
	if tokens != 3 {
		t.Errorf("%d tokens for three parts of a file", tokens)
	}
}

// If an anonymous token was not sufficient, none is requested again when a token has expired.
func TestLoginIsRenewed(t *testing.T) {
	n := newNetwork(t)
	artifact := newArtifact("tool", archive)
	azure := &fakecloud.AzureRegistry{Host: "registry.test", Tenant: tenantID, AccessToken: canary}
	azure.Content = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		artifact.ServeHTTP(w, r)
		azure.Expire()
	})
	n.serve(registryURL, azure)
	client := n.client()
	client.Login = fetch.AzureLogin(client, fetch.AzureIdentity{
		ClientID: clientID, TenantID: tenantID, Token: func(context.Context, string, string) (string, error) { return canary, nil },
	})
	// Manifest, anonymous token, exchange, token, manifest; blob, token, blob.
	checkRegistry(t, n, client, fetch.Request{From: []string{artifactFrom}, MaxBytes: 1 << 20}, registryCase{asked: 8})
}

// If a login's token has expired, there is one new login. If its token was never accepted, there is no other login.
func TestExpiredLogin(t *testing.T) {
	for name, c := range map[string]struct {
		age     time.Duration
		renewed bool // the registry accepts the next token
		logins  int
		cause   fetch.Cause
	}{
		"expired":       {10 * time.Minute, true, 2, ""},
		"never taken":   {time.Second, true, 1, fetch.Refused},
		"refused again": {10 * time.Minute, false, 2, fetch.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t)
				exchanged, valid := 0, "1"
				exchange := func(w http.ResponseWriter, _ *http.Request) {
					exchanged++
					fmt.Fprintf(w, `{"refresh_token":"%d"}`, exchanged)
				}
				tokens := func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodGet || r.FormValue("refresh_token") != valid {
						w.WriteHeader(http.StatusUnauthorized)
						return
					}
					fmt.Fprint(w, `{"access_token":"good"}`)
				}
				registry := realm{challenge, tokens, newArtifact("tool", archive)}
				n.serve(registryURL, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/oauth2/exchange" {
						exchange(w, r)
						return
					}
					registry.ServeHTTP(w, r)
				}))
				client := n.client()
				client.Login = fetch.AzureLogin(client, fetch.AzureIdentity{
					ClientID: clientID, TenantID: tenantID, Token: func(context.Context, string, string) (string, error) { return canary, nil },
				})
				r := fetch.Request{From: []string{artifactFrom}, MaxBytes: 1 << 20}
				if _, err := client.Get(t.Context(), r, newFile(t, nil)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(c.age)
				if valid = "none"; c.renewed {
					valid = "2"
				}
				_, err := client.Get(t.Context(), r, newFile(t, nil))
				var failed *fetch.Error
				if c.cause == "" && err != nil || c.cause != "" && (!errors.As(err, &failed) || failed.Cause != c.cause) || exchanged != c.logins {
					t.Errorf("%v, %d logins", err, exchanged)
				}
			})
		})
	}
}

// A malformed challenge is read up to the error.
func TestBadChallenges(t *testing.T) {
	for _, text := range []string{
		"Bearer realm=", `Bearer realm="https://registry.test/token`, `Bearer realm="https://registry.test/token\`, "Bearer", "=", ",,,", `"`,
		`Bearer service="a", realm="https://me:` + canary + `@registry.test/token"`,
	} {
		n := newNetwork(t)
		n.serve(registryURL, realm{text, status(500), nil})
		checkRegistry(t, n, n.client(), fetch.Request{From: []string{artifactFrom}}, registryCase{cause: fetch.Refused, asked: 1})
	}
	// The first value of several counts, names have any case, and there may be white space.
	n := newNetwork(t)
	n.serve(registryURL, realm{` bearer  ReAlm = "https://registry.test/token" , realm="http://evil/",  Service=a`, gives(`{"token":"good"}`), newArtifact("", archive)})
	checkRegistry(t, n, n.client(), fetch.Request{From: []string{artifactFrom}, MaxBytes: 1 << 20}, registryCase{asked: 4})
	if asked := n.asked(); slices.Contains(asked, "http://evil/") {
		t.Error(asked)
	}
}
