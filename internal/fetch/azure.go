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

// LoginCause says why a machine's identity gave no way into a registry of Azure's. Each is one of AKS's exit codes
// (AKS: oras_login_with_managed_identity).
type LoginCause string

// The causes, in the order in which they win where both audiences have failed.
const (
	// RegistryRefused: the registry does not take the identity, or it may not read there. AKS's code is 212,
	// ERR_ORAS_PULL_UNAUTHORIZED.
	RegistryRefused LoginCause = "registry refused"
	// RegistryUnreachable: the registry does not answer. AKS's code is 211, ERR_ORAS_PULL_NETWORK_TIMEOUT.
	RegistryUnreachable LoginCause = "registry unreachable"
	// NoIdentity: the metadata service gives no token of the identity. AKS's code is 210, ERR_ORAS_IMDS_TIMEOUT.
	NoIdentity LoginCause = "no identity"
)

var loginCauses = []LoginCause{RegistryRefused, RegistryUnreachable, NoIdentity}

// LoginError says why there is no login.
type LoginError struct {
	Cause LoginCause
	// Registry is its host.
	Registry string
	Err      error
}

// Error names the registry and what failed.
func (e *LoginError) Error() string {
	return fmt.Sprintf("the machine's identity opens no way into %s: %v", e.Registry, e.Err)
}

// Unwrap gives what failed.
func (e *LoginError) Unwrap() error { return e.Err }

// AzureIdentity is the identity with which a machine of Azure's pulls.
type AzureIdentity struct {
	// ClientID is that of the identity, and TenantID its tenant. Without one of them a registry is asked as nobody.
	ClientID, TenantID string
	// ResourceManager is the address of the cloud's resource manager, such as "https://management.azure.com/". Registries
	// that do not take a token for registries take one for it.
	ResourceManager string
	// Token returns an access token of the identity for an audience. It is the metadata service's IdentityToken.
	Token func(ctx context.Context, audience, clientID string) (string, error)
}

const (
	// registryAudience is that of all registries, in every cloud (AKS: oras_login_with_managed_identity).
	registryAudience = "https://containerregistry.azure.net"
	// identityPatience bounds how long a token is waited for. AKS asks five times, 15 seconds apart.
	identityPatience = 75 * time.Second
	// exchangeTries is how often a registry is asked for a refresh token that may give one later.
	exchangeTries = 5
	// refreshLife is how long a refresh token is used again. Azure's are good for three hours.
	refreshLife = time.Hour
)

// AzureLogin returns a Client's Login for registries of Azure's: the identity's token is exchanged for a refresh token of the
// registry's, without a password. Connections are made as c makes them. A registry's token is kept for an hour. The error is
// a *LoginError.
func AzureLogin(c *Client, identity AzureIdentity) func(ctx context.Context, host string) (string, error) {
	l := &azureLogin{client: c, identity: identity, kept: make(map[string]refreshToken)}
	return l.login
}

// azureLogin makes one login at a time, so that several files of one registry need one.
type azureLogin struct {
	client   *Client
	identity AzureIdentity
	mu       sync.Mutex
	kept     map[string]refreshToken
}

type refreshToken struct {
	text string
	got  time.Time
}

func (l *azureLogin) login(ctx context.Context, host string) (string, error) {
	if l.identity.ClientID == "" || l.identity.TenantID == "" {
		return "", nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t, ok := l.kept[host]; ok && time.Since(t.got) < refreshLife {
		return t.text, nil
	}
	var all []*LoginError
	for _, audience := range []string{registryAudience, l.identity.ResourceManager} {
		if audience == "" {
			continue
		}
		token, err := l.loginFor(ctx, host, audience)
		if err == nil {
			l.kept[host] = refreshToken{token, time.Now()}
			return token, nil
		}
		all = append(all, err)
	}
	return "", joinedLogin(host, all)
}

// joinedLogin is the errors of all audiences. The one that got furthest says the cause.
func joinedLogin(host string, all []*LoginError) error {
	joined := &LoginError{Registry: host}
	var errs []error
	for _, cause := range loginCauses {
		if slices.ContainsFunc(all, func(e *LoginError) bool { return e.Cause == cause }) {
			joined.Cause = cause
			break
		}
	}
	for _, e := range all {
		errs = append(errs, e.Err)
	}
	joined.Err = errors.Join(errs...)
	return joined
}

// loginFor logs in with a token for an audience.
func (l *azureLogin) loginFor(ctx context.Context, host, audience string) (string, *LoginError) {
	fail := func(cause LoginCause, err error) (string, *LoginError) {
		return "", &LoginError{Cause: cause, Registry: host, Err: fmt.Errorf("with a token for %s: %w", audience, err)}
	}
	limited, cancel := context.WithTimeout(ctx, identityPatience)
	access, err := l.identity.Token(limited, audience, l.identity.ClientID)
	cancel()
	if err != nil {
		return fail(NoIdentity, err)
	}
	refresh, f := l.exchange(ctx, host, access)
	switch {
	case f != nil && f.again, f != nil && f.cause == Unreachable:
		return fail(RegistryUnreachable, f.err)
	case f != nil:
		return fail(RegistryRefused, f.err)
	case !mayRead(refresh):
		return fail(RegistryRefused, errors.New("the identity may not read there"))
	}
	return refresh, nil
}

// exchange makes a refresh token of an access token:
// https://github.com/Azure/acr/blob/main/docs/AAD-OAuth.md, "Calling POST /oauth2/exchange".
func (l *azureLogin) exchange(ctx context.Context, host, access string) (string, *failure) {
	s, done := l.client.session()
	defer done()
	at := "https://" + host + "/oauth2/exchange"
	form := url.Values{"grant_type": {"access_token"}, "service": {host}, "tenant": {l.identity.TenantID}, "access_token": {access}}.Encode()
	pause := firstPause
	for tries := 1; ; tries++ {
		var t struct {
			Refresh string `json:"refresh_token"`
		}
		f := s.tokens(ctx, http.MethodPost, at, form, &t)
		if f == nil {
			if !isToken(t.Refresh) {
				f = failed(Refused, "%s answers without a token", at)
			}
			return t.Refresh, f
		}
		if !f.again || tries == exchangeTries || s.wait(ctx, max(pause, min(f.after, longestRetryAfter))) != nil {
			return "", f
		}
		pause = min(2*pause, longestPause)
	}
}

// mayRead says whether a refresh token lets its holder read. It is a JSON web token whose claims have the identity's actions;
// a registry whose permissions depend on attributes (ABAC) leaves them out, and decides for each repository.
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
