package fetch

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// LoginCause is why a machine's identity gave no login to an Azure registry. Each is one of AKS's exit codes (AKS:
// oras_login_with_managed_identity).
type LoginCause int

// The causes. If both audiences have failed, the larger cause wins: that attempt got further.
const (
	// NoIdentity: the metadata service gives no token. AKS's code is 210, ERR_ORAS_IMDS_TIMEOUT.
	NoIdentity LoginCause = iota + 1
	// RegistryUnreachable: the registry does not answer. AKS's code is 211, ERR_ORAS_PULL_NETWORK_TIMEOUT.
	RegistryUnreachable
	// RegistryRefused: the registry rejects the identity, or the identity may not read there. AKS's code is 212,
	// ERR_ORAS_PULL_UNAUTHORIZED.
	RegistryRefused
)

// LoginError is why there is no login.
type LoginError struct {
	Cause LoginCause
	// Registry is the registry's host.
	Registry string
	Err      error
}

// Error names the registry and what failed.
func (e *LoginError) Error() string {
	return fmt.Sprintf("the machine's identity opens no way into %s: %v", e.Registry, e.Err)
}

// Unwrap returns the cause.
func (e *LoginError) Unwrap() error { return e.Err }

// AzureIdentity is the identity with which an Azure machine pulls.
type AzureIdentity struct {
	// ClientID is the identity's ID, and TenantID its tenant. Without one of them, requests to registries are
	// anonymous.
	ClientID, TenantID string
	// ResourceManager is the address of the cloud's resource manager, such as "https://management.azure.com/".
	// Registries that reject a token for the registry audience accept one for this address.
	ResourceManager string
	// Token returns an access token of the identity for an audience. It is the metadata service's IdentityToken.
	Token func(ctx context.Context, audience, clientID string) (string, error)
}

const (
	// registryAudience is the audience of all registries, in every cloud (AKS: oras_login_with_managed_identity).
	registryAudience = "https://containerregistry.azure.net"
	// identityPatience limits the wait for a token. AKS asks five times, 15 seconds apart.
	identityPatience = 75 * time.Second
	// refreshLife is how long a refresh token is reused. Azure's are valid for three hours.
	refreshLife = time.Hour
	// refusedYoung is the age below which a refused token cannot have expired: another one would be refused, too.
	refusedYoung = time.Minute
)

// AzureLogin returns a Client's Login for Azure registries: it exchanges the identity's token for the registry's
// refresh token, without a password. It connects as c does. It keeps the last registry's token for an hour, because a
// node has one registry. The error is a *LoginError.
func AzureLogin(c *Client, identity AzureIdentity) Login {
	return (&azureLogin{client: c, AzureIdentity: identity}).login
}

// azureLogin makes one login at a time, so that several files of one registry need only one.
type azureLogin struct {
	AzureIdentity
	client *Client
	mu     sync.Mutex
	// running is the login in progress, and kept the last successful one. Both may be nil.
	running, kept *attempt
}

// attempt is a login, with its outcome at the end.
type attempt struct {
	host  string
	over  chan struct{}
	token string
	err   error
	got   time.Time
	// cut reports that the time of the caller that made the login was over first; its error is not passed to others.
	cut bool
}

// login returns the token of an earlier login, or logs in. If a login is in progress, it waits for that, and all
// waiting calls get its error. A later call tries again.
func (l *azureLogin) login(ctx context.Context, host, refused string) (string, error) {
	if l.ClientID == "" || l.TenantID == "" {
		return "", nil
	}
	s, done := l.client.session()
	defer done()
	for {
		l.mu.Lock()
		a := l.running
		if a == nil {
			if k := l.kept; k != nil && k.host == host {
				if age := s.now().Sub(k.got); age < refreshLife && (k.token != refused || age < refusedYoung) {
					l.mu.Unlock()
					return k.token, nil
				}
			}
			a = &attempt{host: host, over: make(chan struct{})}
			l.running = a
			l.mu.Unlock()
			return l.lead(ctx, s, a)
		}
		l.mu.Unlock()
		select {
		case <-a.over:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
		if a.host == host && !a.cut {
			return a.token, a.err
		}
	}
}

// lead makes a login for all waiting calls.
func (l *azureLogin) lead(ctx context.Context, s *session, a *attempt) (string, error) {
	a.err = errors.New("the login has ended in the middle")
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if a.got = s.now(); a.err == nil {
			l.kept = a
		}
		l.running, a.cut = nil, ctx.Err() != nil
		close(a.over)
	}()
	a.token, a.err = l.ask(ctx, s, a.host)
	return a.token, a.err
}

// ask logs in with a token for each audience in turn. The exchange follows
// https://github.com/Azure/acr/blob/main/docs/AAD-OAuth.md, "Calling POST /oauth2/exchange".
func (l *azureLogin) ask(ctx context.Context, s *session, host string) (string, error) {
	failed := &LoginError{Registry: host}
	for _, audience := range []string{registryAudience, l.ResourceManager} {
		if audience == "" {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, identityPatience)
		access, err := l.Token(limited, audience, l.ClientID)
		cancel()
		cause := NoIdentity
		if err == nil {
			var token string
			if token, cause, err = l.exchange(ctx, s, host, access); err == nil {
				return token, nil
			}
		}
		failed.Cause = max(failed.Cause, cause)
		failed.Err = errors.Join(failed.Err, fmt.Errorf("with a token for %s: %w", audience, err))
	}
	return "", failed
}

// exchange exchanges an access token for a refresh token.
func (l *azureLogin) exchange(ctx context.Context, s *session, host, access string) (string, LoginCause, error) {
	at := &url.URL{Scheme: "https", Host: host, Path: "/oauth2/exchange"}
	body := form("grant_type", "access_token", "service", host, "tenant", l.TenantID, "access_token", access)
	for pause := firstPause; ; pause *= 2 {
		token, f := s.secret(ctx, at, http.Header{}, body, "refresh_token")
		switch {
		case f == nil && mayRead(token):
			return token, 0, nil
		case f == nil:
			return "", RegistryRefused, errors.New("the identity may not read there")
		case !f.again:
			return "", RegistryRefused, f.err
		case pause > longestPause || s.wait(ctx, max(pause, f.after)) != nil:
			return "", RegistryUnreachable, f.err
		}
	}
}

// mayRead reports whether a refresh token lets its holder read. It is a JSON web token whose claims list the identity's
// actions. A registry with permissions by attributes (ABAC) omits them, and decides for each repository.
func mayRead(token string) bool {
	var claims struct {
		Permissions struct {
			Actions []string `json:"actions"`
		} `json:"permissions"`
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return true
	}
	data, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil || json.Unmarshal(data, &claims) != nil || claims.Permissions.Actions == nil {
		return true
	}
	return slices.Contains(claims.Permissions.Actions, "read")
}
