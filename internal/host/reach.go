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

// logins are the machine's logins to registries. What several downloads and images need is asked for once.
type logins struct {
	// dial reaches the metadata service; nil for the network.
	dial metadata.Dial
	mu   sync.Mutex
	// reach is how the registry of login is reached, which is the last that was asked for.
	reach *resource.Reach
	login fetch.Login
}

// of logs in with the identity that a resource names, by a client that reaches servers as the resource says.
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

// fetcher is a client that reaches servers as a resource says.
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
			return "", nil // nobody else is shown who the machine is
		}
		return login(ctx, host, refused)
	}
	return client, nil
}
