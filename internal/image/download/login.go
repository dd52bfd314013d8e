package download

import (
	"context"
	"sync"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/slipway-dev/slipway/internal/fetch"
)

// Registries makes a client log in to registries with what "docker login" or "podman login" have left: in Docker's config.json, with its
// credential helpers, or without that file in podman's auth.json. A registry's login is looked up once.
func Registries(client *fetch.Client) {
	var known sync.Map
	loginOf := func(ctx context.Context, host string) (*authn.AuthConfig, error) {
		login, _ := known.LoadOrStore(host, sync.OnceValues(func() (*authn.AuthConfig, error) {
			kept, err := authn.Resolve(ctx, authn.DefaultKeychain, registry(host))
			if err != nil {
				return nil, err
			}
			return authn.Authorization(ctx, kept)
		}))
		return login.(func() (*authn.AuthConfig, error))()
	}
	client.Login = func(ctx context.Context, host, _ string) (string, error) {
		login, err := loginOf(ctx, host)
		if err != nil {
			return "", err
		}
		return login.IdentityToken, nil
	}
	client.Password = func(ctx context.Context, host string) (user, password string, err error) {
		login, err := loginOf(ctx, host)
		if err != nil {
			return "", "", err
		}
		return login.Username, login.Password, nil
	}
}

// registry is the name of a registry by which logins are kept.
type registry string

// String is the name.
func (r registry) String() string { return r.RegistryStr() }

// RegistryStr is the name. "docker login" keeps that of Docker's own registry under another name than the host's.
func (r registry) RegistryStr() string {
	if r == "registry-1.docker.io" {
		return "index.docker.io"
	}
	return string(r)
}
