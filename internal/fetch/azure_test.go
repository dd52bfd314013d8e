package fetch_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/fetch"
	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/test/fakecloud"
)

const (
	clientID = "11111111-1111-1111-1111-111111111111"
	tenantID = "33333333-3333-3333-3333-333333333333"
	// forRegistries and forManager are the two audiences.
	forRegistries = "https://containerregistry.azure.net"
	forManager    = "https://management.azure.com/"
)

// azureCase is a machine in a cloud, and a registry that may accept it.
type azureCase struct {
	name     string
	audience string // of the token that the metadata service gives
	faults   []string
	registry *fakecloud.AzureRegistry
	// exchange, if any, replaces the registry's answer.
	exchange http.HandlerFunc
	// busy is how many exchanges the registry first refuses because it is busy.
	busy      int64
	anonymous bool // the machine has no identity
	cause     fetch.LoginCause
	// outer is the cause of the error that wraps the login's.
	outer fetch.Cause
	text  string
	took  time.Duration
	// exchanges is how many exchanges the registry got.
	exchanges int
}

func azureCases() []azureCase {
	reads := []string{"read", "metadata/read"}
	return []azureCase{
		{name: "everybody", registry: &fakecloud.AzureRegistry{Anonymous: true}},
		{name: "a token for registries", audience: forRegistries, registry: &fakecloud.AzureRegistry{Actions: reads}, exchanges: 1},
		{name: "a token for the resource manager", audience: forManager, registry: &fakecloud.AzureRegistry{Actions: reads}, exchanges: 1},
		{name: "permissions by attributes", audience: forRegistries, exchanges: 1},
		{name: "may not read", audience: forRegistries, registry: &fakecloud.AzureRegistry{Actions: []string{"push"}}, cause: fetch.RegistryRefused, text: "may not read", exchanges: 1},
		{name: "may do nothing", audience: forManager, registry: &fakecloud.AzureRegistry{Actions: []string{}}, cause: fetch.RegistryRefused, text: "may not read", exchanges: 1},
		{name: "another tenant", audience: forRegistries, registry: &fakecloud.AzureRegistry{Tenant: "other"}, cause: fetch.RegistryRefused, text: "oauth2/exchange: answers 401", exchanges: 1},
		{name: "an expired exchange", audience: forRegistries, exchange: status(400), cause: fetch.RegistryRefused, text: "answers 400", exchanges: 1},
		{name: "an exchange without a token", audience: forRegistries, exchange: gives(`{}`), cause: fetch.RegistryRefused, text: "no token that can be read", exchanges: 1},
		{name: "an exchange that is no document", audience: forRegistries, exchange: gives(canary), cause: fetch.RegistryRefused, text: "no token that can be read", exchanges: 1},
		{name: "an exchange elsewhere", audience: forRegistries, exchange: status(307, "Location", "https://others.test/"), cause: fetch.RegistryRefused, text: "307", exchanges: 1},
		{name: "a registry that is slow to begin", audience: forRegistries, busy: 2, took: 1500 * time.Millisecond, exchanges: 3},
		{name: "a registry that is down", audience: forRegistries, exchange: raw(""), cause: fetch.RegistryUnreachable, outer: fetch.Unreachable, took: 15500 * time.Millisecond, exchanges: 6},
		{name: "a registry that is busy", audience: forManager, exchange: status(429, "Retry-After", "10"), cause: fetch.RegistryUnreachable, outer: fetch.Unreachable, text: "429", took: 50 * time.Second, exchanges: 6},
		{name: "no token for this identity", audience: "https://vault.azure.net", cause: fetch.NoIdentity, text: "400 Bad Request"},
		{name: "no metadata service", audience: forRegistries, faults: []string{"imds blackhole"}, cause: fetch.NoIdentity, text: "no answer in time", took: 150 * time.Second},
		{name: "a metadata service that is updated", audience: forRegistries, faults: []string{"imds status=410*3"}, took: 700 * time.Millisecond, exchanges: 1},
		{name: "no identity", anonymous: true, text: "answers 401"},
	}
}

func TestAzure(t *testing.T) {
	for _, c := range azureCases() {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { c.check(t) })
		})
	}
}

func (c *azureCase) check(t *testing.T) {
	n := newNetwork(t)
	if c.registry == nil {
		c.registry = &fakecloud.AzureRegistry{}
	}
	c.registry.Host, c.registry.AccessToken, c.registry.Content = "registry.test", canary, newArtifact("tool", archive)
	if c.registry.Tenant == "" {
		c.registry.Tenant = tenantID
	}
	exchanges := 0
	var exchange http.Handler = c.registry
	if c.exchange != nil {
		exchange = c.exchange
	}
	exchange = first(c.busy, status(503), exchange)
	n.serve(registryURL, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/oauth2/exchange" {
			c.registry.ServeHTTP(w, r)
			return
		}
		exchanges++
		exchange.ServeHTTP(w, r)
	}))
	cloud := fakecloud.New(fakecloud.Instance{AccessToken: canary, Identity: clientID, Audiences: []string{c.audience}})
	if err := cloud.Misbehave(c.faults...); err != nil {
		t.Fatal(err)
	}
	n.serve("http://"+fakecloud.MetadataAddress, cloud.Metadata())
	service, err := metadata.New("azure", n.dial)
	if err != nil {
		t.Fatal(err)
	}
	identity := fetch.AzureIdentity{ClientID: clientID, TenantID: tenantID, ResourceManager: forManager, Token: service.IdentityToken}
	if c.anonymous {
		identity.TenantID = ""
	}
	client := n.client()
	client.Login = fetch.AzureLogin(client, identity)
	begin := time.Now()
	into := newFile(t, nil)
	got, err := client.Get(t.Context(), fetch.Request{From: []string{artifactFrom}, MaxBytes: 1 << 20}, into)
	if took := time.Since(begin); took != c.took || exchanges != c.exchanges {
		t.Errorf("it took %s and %d exchanges, want %s and %d", took, exchanges, c.took, c.exchanges)
	}
	c.checkEnd(t, got, content(t, into), err)
}

func (c *azureCase) checkEnd(t *testing.T, got fetch.Fetched, holds string, err error) {
	t.Helper()
	var failed *fetch.Error
	var login *fetch.LoginError
	switch {
	case c.cause == 0 && c.text == "":
		if err != nil || holds != string(archive) {
			t.Errorf("%+v, %v", got, err)
		}
	case !errors.As(err, &failed) || errors.As(err, &login) != (c.cause != 0) || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), canary):
		t.Errorf("%v", err)
	case c.cause != 0 && (login.Cause != c.cause || login.Registry != "registry.test"):
		t.Errorf("%d of %q, want %d", login.Cause, login.Registry, c.cause)
	default:
		outer := c.outer
		if outer == "" {
			outer = fetch.Refused
		}
		if failed.Cause != outer {
			t.Errorf("%q, want %q", failed.Cause, outer)
		}
	}
}

// Several files at a time need one login. After an hour, and for another registry, there is a new login.
func TestOneLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t)
		client := n.client()
		logins := 0
		client.Login = fetch.AzureLogin(client, fetch.AzureIdentity{ClientID: clientID, TenantID: tenantID, Token: func(_ context.Context, audience, id string) (string, error) {
			if logins++; audience != forRegistries || id != clientID {
				t.Errorf("a token for %q of %q", audience, id)
			}
			return canary, nil
		}})
		for _, host := range []string{"registry.test", "second.test"} {
			n.serve("https://"+host, &fakecloud.AzureRegistry{Host: host, Tenant: tenantID, AccessToken: canary, Content: newArtifact("tool", archive)})
		}
		get := func(host string, want int) {
			t.Helper()
			var wait sync.WaitGroup
			for range 4 {
				wait.Go(func() {
					if _, err := client.Get(t.Context(), fetch.Request{From: []string{host + "/aks/tool:v1"}, MaxBytes: 1 << 20}, newFile(t, nil)); err != nil {
						t.Error(err)
					}
				})
			}
			if wait.Wait(); logins != want {
				t.Errorf("%d logins, want %d", logins, want)
			}
		}
		get("registry.test", 1)
		time.Sleep(59 * time.Minute)
		get("registry.test", 1)
		time.Sleep(2 * time.Minute)
		get("registry.test", 2)
		get("second.test", 3)
	})
}

// All calls that wait for a failing login get its error, without another login. A later call tries again. If the caller
// of the login gives up, the others do not get that as an answer.
func TestFailedLoginIsShared(t *testing.T) {
	for name, c := range map[string]struct {
		patience time.Duration // of the first caller
		logins   int
		took     time.Duration
	}{
		"fails":                   {time.Hour, 1, 30 * time.Second},
		"its caller has given up": {10 * time.Second, 2, 40 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				logins := 0
				login := fetch.AzureLogin(&fetch.Client{}, fetch.AzureIdentity{ClientID: clientID, TenantID: tenantID, Token: func(ctx context.Context, _, _ string) (string, error) {
					logins++
					select {
					case <-time.After(30 * time.Second):
						return "", errors.New("no token")
					case <-ctx.Done():
						return "", ctx.Err()
					}
				}})
				begin := time.Now()
				var wait sync.WaitGroup
				for i := range 4 {
					wait.Go(func() {
						patience := time.Hour
						if i == 0 {
							patience = c.patience
						} else {
							time.Sleep(time.Second)
						}
						ctx, cancel := context.WithTimeout(t.Context(), patience)
						defer cancel()
						_, err := login(ctx, "registry.test", "")
						var failed *fetch.LoginError
						if !errors.As(err, &failed) || failed.Cause != fetch.NoIdentity {
							t.Error(err)
						}
					})
				}
				wait.Wait()
				if took := time.Since(begin); logins != c.logins || took != c.took {
					t.Errorf("%d logins in %s", logins, took)
				}
				if _, err := login(t.Context(), "registry.test", ""); err == nil || logins != c.logins+1 {
					t.Errorf("later: %v, %d logins", err, logins)
				}
			})
		})
	}
}
