package host

import (
	"context"
	"crypto/x509"
	"fmt"
	"reflect"
	"sync"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/fetch"
	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/internal/resource"
)

// logins are the machine's logins to registries. One login serves several downloads and images.
type logins struct {
	// dial reaches the metadata service. If nil, the network does.
	dial metadata.Dial
	mu   sync.Mutex
	// reach is the way to the registry of login, the last one used.
	reach *resource.Reach
	login fetch.Login
}

// of logs in with a resource's identity, through a client that reaches servers as the resource defines.
func (l *logins) of(r *resource.Reach, client *fetch.Client) (fetch.Login, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.login != nil && reflect.DeepEqual(l.reach, r) {
		return l.login, nil
	}
	service, err := metadata.New(facts.Azure, l.dial)
	if err != nil {
		return nil, err
	}
	l.reach = r
	l.login = fetch.AzureLogin(client, fetch.AzureIdentity{
		ClientID: r.Identity.ClientID, TenantID: r.Identity.TenantID, ResourceManager: r.Identity.ResourceManager, Token: service.IdentityToken,
	})
	return l.login, nil
}

// fetcher is a client that reaches servers as a resource defines.
func (m *Machine) fetcher(r *resource.Reach) (*fetch.Client, error) {
	client := &fetch.Client{Proxy: proxyFor(r)}
	if r.Authorities != "" {
		roots, err := x509.SystemCertPool()
		if err != nil {
			return nil, fmt.Errorf("read the certificates that the system trusts: %w", err)
		}
		roots.AppendCertsFromPEM([]byte(r.Authorities))
		client.Roots = roots
	}
	if r.Identity == nil {
		return client, nil
	}
	login, err := m.logins.of(r, client)
	if err != nil {
		return nil, err
	}
	client.Login = func(ctx context.Context, host, refused string) (string, error) {
		if host != r.Identity.Registry {
			return "", nil // the machine's identity goes to no other registry
		}
		return login(ctx, host, refused)
	}
	return client, nil
}
