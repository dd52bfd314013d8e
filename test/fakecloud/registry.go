package fakecloud

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// AzureRegistry is the access control of an Azure registry: it exchanges an access token for a refresh token, and that for a token
// to pull. See https://github.com/Azure/acr/blob/main/docs/AAD-OAuth.md. Another handler serves the content.
type AzureRegistry struct {
	// Host is the name of the registry and of its service.
	Host string
	// Tenant and AccessToken are the pair that it exchanges. It refuses every other pair.
	Tenant, AccessToken string
	// Actions are the identity's rights in the refresh token. If nil, the registry's token has no rights in it. Allow changes them
	// while it answers.
	Actions []string
	// User and Password are of its administrator. Empty means that it has none.
	User, Password string
	// Anonymous means that a client needs no identity to get a token.
	Anonymous bool
	// Content answers requests with a token.
	Content http.Handler
	// Issue, if not nil, makes a token for a scope, "repository:NAME:pull". Content then checks tokens itself, and requires them.
	Issue func(scope string) string

	mu sync.Mutex
	// generation is a part of each token, so that Expire can end all of them.
	generation int
}

// ServeHTTP answers as the registry.
func (r *AzureRegistry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	token := r.current()
	switch request.URL.Path {
	case "/oauth2/exchange":
		r.exchange(w, request)
	case "/oauth2/token":
		r.token(w, request, token)
	default:
		if r.Issue != nil || request.Header.Get("Authorization") == "Bearer "+token {
			r.Content.ServeHTTP(w, request)
			return
		}
		challenge := fmt.Sprintf(`Bearer realm="https://%[1]s/oauth2/token",service="%[1]s",scope="%[2]s"`, r.Host, scope(request.URL))
		w.Header().Set("WWW-Authenticate", challenge)
		registryError(w, http.StatusUnauthorized, "UNAUTHORIZED")
	}
}

// scope is the required scope of a request's token.
func scope(u *url.URL) string {
	name := strings.TrimPrefix(u.Path, "/v2/")
	for _, kind := range []string{"/manifests/", "/blobs/"} {
		name, _, _ = strings.Cut(name, kind)
	}
	return "repository:" + name + ":pull"
}

// exchange exchanges an access token for a refresh token.
func (r *AzureRegistry) exchange(w http.ResponseWriter, request *http.Request) {
	want := map[string]string{"grant_type": "access_token", "service": r.Host, "tenant": r.Tenant, "access_token": r.AccessToken}
	for name, value := range want {
		if request.Method != http.MethodPost || value == "" || request.PostFormValue(name) != value {
			registryError(w, http.StatusUnauthorized, "UNAUTHORIZED")
			return
		}
	}
	writeJSON(w, map[string]string{"refresh_token": r.refresh()})
}

// current is the valid token to pull.
func (r *AzureRegistry) current() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("token-%d", r.generation)
}

// actions are the identity's rights.
func (r *AzureRegistry) actions() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Actions
}

// refresh is the refresh token: a JSON web token that no client verifies.
func (r *AzureRegistry) refresh() string {
	claims := map[string]any{"aud": r.Host, "grant_type": "refresh_token"}
	if actions := r.actions(); actions != nil {
		claims["permissions"] = map[string]any{"actions": actions}
	}
	text, err := json.Marshal(claims)
	if err != nil {
		panic(err) // strings only
	}
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"none"}`)) + "." + part(text) + ".signature"
}

// token returns a token to pull: for a valid refresh token, for the administrator's password, or for every request if Anonymous is set.
func (r *AzureRegistry) token(w http.ResponseWriter, request *http.Request, token string) {
	user, password, _ := request.BasicAuth()
	allowed := r.Anonymous || r.User != "" && user == r.User && password == r.Password
	if request.Method == http.MethodPost {
		allowed = request.PostFormValue("grant_type") == "refresh_token" && request.PostFormValue("refresh_token") == r.refresh() &&
			(r.actions() == nil || slices.Contains(r.actions(), "read"))
	}
	if !allowed || request.FormValue("service") != r.Host || !strings.HasPrefix(request.FormValue("scope"), "repository:") {
		registryError(w, http.StatusUnauthorized, "UNAUTHORIZED")
		return
	}
	if r.Issue != nil {
		token = r.Issue(request.FormValue("scope"))
	}
	writeJSON(w, map[string]string{"access_token": token})
}

// Expire ends every issued token to pull.
func (r *AzureRegistry) Expire() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.generation++
}

// Allow sets the identity's rights from now on, and ends every issued token to pull.
func (r *AzureRegistry) Allow(actions ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Actions = append([]string{}, actions...)
	r.generation++
}

func registryError(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"errors":[{"code":%q}]}`, code)
}
