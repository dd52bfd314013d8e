package registry

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/distribution/distribution/v3/configuration"
	_ "github.com/distribution/distribution/v3/registry/auth/htpasswd" // the authentication in the configurations
	_ "github.com/distribution/distribution/v3/registry/auth/token"
	"github.com/distribution/distribution/v3/registry/handlers"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/inmemory" // its storage
	"github.com/sirupsen/logrus"
	"golang.org/x/crypto/bcrypt"

	"github.com/slipway-dev/slipway/test/fakecloud"
)

const (
	tenant = "33333333-3333-3333-3333-333333333333"
	client = "11111111-1111-1111-1111-111111111111"
	access = "access-token-of-the-identity"
	issuer = "issuer"
	keyID  = "key"
)

// server is a registry: behind the access control of an Azure registry, or with a user and a password.
type server struct {
	*fakecloud.AzureRegistry
	t    *testing.T
	http *httptest.Server
	// key signs tokens. It is nil in a registry without tokens.
	key *ecdsa.PrivateKey
}

const (
	config = `
version: 0.1
log: {accesslog: {disabled: true}, level: error}
storage: {inmemory: {}}
auth:
  `
	byToken    = config + `token: {realm: "https://%[1]s/oauth2/token", service: %[1]q, issuer: %[2]s, jwks: %[3]q, signingalgorithms: [ES256]}`
	byPassword = config + `htpasswd: {realm: registry, path: %q}`
)

// app is the registry of a configuration.
func app(t *testing.T, text string) http.Handler {
	t.Helper()
	parsed, err := configuration.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return handlers.NewApp(t.Context(), parsed)
}

// The registry's administrator.
const administrator, password = "administrator", "correct horse"

// newPasswordServer is a registry that takes the administrator's password with each request.
func newPasswordServer(t *testing.T) *server {
	t.Helper()
	logrus.SetOutput(io.Discard)
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	users := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, append([]byte(administrator+":"), hash...), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, AzureRegistry: &fakecloud.AzureRegistry{}}
	s.http = httptest.NewTLSServer(app(t, fmt.Sprintf(byPassword, users)))
	t.Cleanup(s.http.Close)
	s.Host = s.http.Listener.Addr().String()
	return s
}

func newServer(t *testing.T) *server {
	t.Helper()
	logrus.SetOutput(io.Discard)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, key: key, AzureRegistry: &fakecloud.AzureRegistry{Tenant: tenant, AccessToken: access}}
	s.Issue = func(scope string) string { return s.token(scope) }
	s.http = httptest.NewTLSServer(s.AzureRegistry)
	t.Cleanup(s.http.Close)
	s.Host = s.http.Listener.Addr().String()
	point, err := key.PublicKey.Bytes() // 4, X and Y
	if err != nil {
		t.Fatal(err)
	}
	keys := filepath.Join(t.TempDir(), "keys.json")
	document := map[string]any{"keys": []any{map[string]string{
		"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": keyID, "x": base64url(point[1:33]), "y": base64url(point[33:]),
	}}}
	if err := os.WriteFile(keys, encoded(document), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Content = app(t, fmt.Sprintf(byToken, s.Host, issuer, keys))
	return s
}

// token is a token for "repository:NAME:ACTION,ACTION".
func (s *server) token(scope string) string {
	parts := strings.Split(scope, ":")
	claims := map[string]any{"iss": issuer, "aud": s.Host, "exp": time.Now().Add(time.Hour).Unix(), "access": []any{map[string]any{
		"type": parts[0], "name": parts[1], "actions": strings.Split(parts[2], ","),
	}}}
	text := base64url(encoded(map[string]string{"alg": "ES256", "typ": "JWT", "kid": keyID})) + "." + base64url(encoded(claims))
	digest := sha256.Sum256([]byte(text))
	r, v, err := ecdsa.Sign(rand.Reader, s.key, digest[:])
	if err != nil {
		panic(err)
	}
	return text + "." + base64url(append(r.FillBytes(make([]byte, 32)), v.FillBytes(make([]byte, 32))...))
}

func base64url(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

func encoded(document any) []byte {
	data, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	return data
}

// descriptor identifies a repository's content.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Platform    map[string]string `json:"platform,omitempty"`
}

func describe(kind string, data []byte) descriptor {
	return descriptor{MediaType: kind, Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(data)), Size: len(data)}
}

// push sends a request to the registry with the right to write.
func (s *server) push(method, at, repository, kind string, data []byte) *http.Response {
	s.t.Helper()
	if strings.HasPrefix(at, "/") {
		at = "https://" + s.Host + at
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method, at, bytes.NewReader(data))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Content-Type", kind)
	if s.key == nil {
		request.SetBasicAuth(administrator, password)
	} else {
		request.Header.Set("Authorization", "Bearer "+s.token("repository:"+repository+":pull,push"))
	}
	response, err := s.http.Client().Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	body, _ := io.ReadAll(response.Body)
	response.Body.Close()
	if response.StatusCode/100 != 2 {
		s.t.Fatalf("%s %s: %s: %s", method, at, response.Status, body)
	}
	return response
}

// blob pushes a blob.
func (s *server) blob(repository, kind string, data []byte) descriptor {
	s.t.Helper()
	d := describe(kind, data)
	upload := s.push(http.MethodPost, "/v2/"+repository+"/blobs/uploads/", repository, "", nil).Header.Get("Location")
	s.push(http.MethodPut, upload+"&digest="+d.Digest, repository, "application/octet-stream", data)
	return d
}

// manifest pushes a manifest or an index, by a tag or, with an empty one, by its digest.
func (s *server) manifest(repository, tag, kind string, document map[string]any) descriptor {
	s.t.Helper()
	document["schemaVersion"], document["mediaType"] = 2, kind
	data := encoded(document)
	d := describe(kind, data)
	if tag == "" {
		tag = d.Digest
	}
	s.push(http.MethodPut, "/v2/"+repository+"/manifests/"+tag, repository, kind, data)
	return d
}
