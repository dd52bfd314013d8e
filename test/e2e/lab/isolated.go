package lab

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/registry"
)

// The registry of a cluster without a way out, which the sandbox's DNS server knows.
const (
	IsolatedRegistry = isolatedHost + isolatedPort

	isolatedHost    = "isolated.azurecr.io"
	isolatedAddress = "10.77.0.3"
	isolatedPort    = ":5443"
	// registryAudience is what a machine's identity asks a token for that a registry of Azure takes.
	registryAudience = "https://containerregistry.azure.net"
)

// Isolated is a registry as those of Azure are. It lets nobody in without a token of its own. For the token of a machine's identity
// it gives a refresh token, and for that an access token (Azure/acr: docs/AAD-OAuth.md).
type Isolated struct {
	// PKI has made its certificate.
	PKI *PKI
	// identity is the token of the machine's identity.
	identity string
	// refresh and access are the two tokens that it gives.
	refresh, access string
	registry        http.Handler
	mux             *http.ServeMux
}

// isolated starts the registry on the sandbox's network.
func (l *Lab) isolated() error {
	pki, err := NewPKI(filepath.Join(l.dir, "isolated-pki"), "e2e-isolated-ca")
	if err != nil {
		return err
	}
	l.Isolated = newIsolated(pki, l.Token)
	_, err = serveTLS(l.Registries.Requests.of("isolated", l.Isolated), isolatedAddress+isolatedPort, pki, isolatedHost)
	return err
}

// newIsolated makes the registry, with nothing in it.
func newIsolated(pki *PKI, identity string) *Isolated {
	i := &Isolated{
		PKI: pki, identity: identity, refresh: refreshToken(), access: rand.Text(),
		registry: registry.New(registry.Logger(log.New(io.Discard, "", 0))), mux: http.NewServeMux(),
	}
	i.mux.HandleFunc("/v2/", i.serve)
	i.mux.HandleFunc("POST /oauth2/exchange", i.gives("access_token", identity, "refresh_token", i.refresh))
	i.mux.HandleFunc("POST /oauth2/token", i.gives("refresh_token", i.refresh, "access_token", i.access))
	return i
}

// ServeHTTP implements http.Handler.
func (i *Isolated) ServeHTTP(w http.ResponseWriter, q *http.Request) { i.mux.ServeHTTP(w, q) }

// refreshToken is a JSON web token that says what its owner may do. Nobody checks who has signed it.
func refreshToken() string {
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	return part(`{"alg":"none"}`) + "." + part(`{"jti":"`+rand.Text()+`","permissions":{"actions":["read"]}}`) + ".e2e"
}

// serve answers whoever has the access token, and sends all others to where they get one.
func (i *Isolated) serve(w http.ResponseWriter, q *http.Request) {
	if q.Header.Get("Authorization") == "Bearer "+i.access {
		i.registry.ServeHTTP(w, q)
		return
	}
	challenge := `Bearer realm="https://` + IsolatedRegistry + `/oauth2/token",service="` + IsolatedRegistry + `"`
	if repository, _, found := strings.Cut(strings.TrimPrefix(q.URL.Path, "/v2/"), "/manifests/"); found {
		challenge += `,scope="repository:` + repository + `:pull"`
	}
	w.Header().Set("WWW-Authenticate", challenge)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnauthorized)
	io.WriteString(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`)
}

// gives hands a token out for another one, which is also the name of what it is asked for.
func (i *Isolated) gives(grant, want, name, token string) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		if q.FormValue("grant_type") != grant || q.FormValue("service") != IsolatedRegistry || q.FormValue(grant) != want {
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"this token is not good here"}]}`, http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		// The connection is all there is to report an error to.
		_ = json.NewEncoder(w).Encode(map[string]string{name: token})
	}
}

// Package is a file that the registry has under a name and a tag, for machines of one kind.
type Package struct {
	Repository, Tag string
	// Title is the file's name, and Type what it is.
	Title, Type string
	Content     []byte
	// Architecture and OSVersion are those of the machines that it is for.
	Architecture, OSVersion string
}

// Publish puts a package into the registry, as an index with one manifest (OCI image specification, "Image Index").
func (i *Isolated) Publish(ctx context.Context, p Package) error {
	push := isolatedPusher{i, "/v2/" + p.Repository}
	layer, err := push.blob(ctx, p.Type, p.Content)
	if err != nil {
		return err
	}
	layer["annotations"] = map[string]string{"org.opencontainers.image.title": p.Title}
	config, err := push.blob(ctx, "application/vnd.oci.empty.v1+json", []byte("{}"))
	if err != nil {
		return err
	}
	manifest, err := push.manifest(ctx, "", map[string]any{
		"schemaVersion": 2, "mediaType": ociManifest, "artifactType": p.Type, "config": config, "layers": []any{layer},
	})
	if err != nil {
		return err
	}
	manifest["platform"] = map[string]string{"os": "linux", "architecture": p.Architecture, "os.version": p.OSVersion}
	_, err = push.manifest(ctx, p.Tag, map[string]any{"schemaVersion": 2, "mediaType": ociIndex, "manifests": []any{manifest}})
	return err
}
