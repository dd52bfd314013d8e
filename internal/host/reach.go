package host

import (
	"context"
	"crypto/x509"
	"fmt"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/fetch"
	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/internal/resource"
)

// fetcher is a client that reaches servers as a resource says.
func fetcher(r *resource.Reach) (*fetch.Client, error) {
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
	service, err := metadata.New(facts.Azure, nil)
	if err != nil {
		return nil, err
	}
	login := fetch.AzureLogin(client, fetch.AzureIdentity{
		ClientID: r.Identity.ClientID, TenantID: r.Identity.TenantID, ResourceManager: r.Identity.ResourceManager, Token: service.IdentityToken,
	})
	client.Login = func(ctx context.Context, host string) (string, error) {
		if host != r.Identity.Registry {
			return "", nil // nobody else is shown who the machine is
		}
		return login(ctx, host)
	}
	return client, nil
}
