package lab

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// testRegistries starts the registries on this machine, with some program.
func testRegistries(t *testing.T) *Registries {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "payload"), []byte("a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := startRegistries(t.Context(), dir, dir, "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRegistries requests manifests as a node would, and checks that each server refuses what the cases rely on.
func TestRegistries(t *testing.T) {
	r := testRegistries(t)
	const manifest = "/v2/payload/manifests/1"
	mirror, proxied := "https://"+r.Mirror+manifest, "https://"+proxiedHost+manifest
	roots := func(pki *PKI) *x509.CertPool {
		pool := x509.NewCertPool()
		pool.AddCert(pki.ca)
		return pool
	}
	proxy := http.ProxyURL(&url.URL{Scheme: "http", Host: r.Proxy})
	for name, c := range map[string]struct {
		url, password string
		trusted       *PKI
		proxy         bool
		// want is the answer's status code. 0 means no answer.
		want     int
		requests []Request
	}{
		"the mirror":                          {mirror + "?ns=mirrored.internal", r.MirrorPassword, r.MirrorPKI, false, 200, []Request{{"mirror", "GET " + manifest + "?ns=mirrored.internal: 200"}}},
		"the mirror without a login":          {mirror, "", r.MirrorPKI, false, 401, []Request{{"mirror", "GET " + manifest + ": 401"}}},
		"the mirror with another password":    {mirror, "x", r.MirrorPKI, false, 401, []Request{{"mirror", "GET " + manifest + ": 401"}}},
		"the mirror of another authority":     {mirror, r.MirrorPassword, r.PKI, false, 0, nil},
		"the registry":                        {proxied, "", r.PKI, true, 200, []Request{{"proxy", "CONNECT proxied.internal:443: 200"}, {"registry", "GET " + manifest + ": 200"}}},
		"the registry of another authority":   {proxied, "", r.MirrorPKI, true, 0, []Request{{"proxy", "CONNECT proxied.internal:443: 200"}}},
		"the registry without the proxy":      {proxied, "", r.PKI, false, 0, nil},
		"the mirror through the proxy":        {mirror, r.MirrorPassword, r.MirrorPKI, true, 0, []Request{{"proxy", "CONNECT " + r.Mirror + ": 403"}}},
		"what the proxy is no proxy for":      {"http://" + proxiedHost + "/", "", r.PKI, true, 403, []Request{{"proxy", "GET http://proxied.internal/: 403"}}},
		"an image that the mirror has not":    {"https://" + r.Mirror + "/v2/other/manifests/1", r.MirrorPassword, r.MirrorPKI, false, 404, []Request{{"mirror", "GET /v2/other/manifests/1: 404"}}},
		"an image that the registry has not":  {"https://" + proxiedHost + "/v2/other/manifests/1", "", r.PKI, true, 404, []Request{{"proxy", "CONNECT proxied.internal:443: 200"}, {"registry", "GET /v2/other/manifests/1: 404"}}},
		"the proxy for a port that is not it": {"https://" + proxiedHost + ":444/", "", r.PKI, true, 0, []Request{{"proxy", "CONNECT proxied.internal:444: 403"}}},
	} {
		r.Requests.Clear()
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots(c.trusted)}, DisableKeepAlives: true}
		if c.proxy {
			// The environment's proxy is not used for servers on this machine; this one is.
			transport.Proxy = proxy
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.password != "" {
			request.SetBasicAuth(MirrorUser, c.password)
		}
		answer, err := transport.RoundTrip(request)
		code := 0
		if err == nil {
			code = answer.StatusCode
			answer.Body.Close()
		}
		if code != c.want {
			t.Errorf("%s: the answer is %d, %v, want %d", name, code, err, c.want)
		}
		if have := r.Requests.All(); !slices.Equal(have, c.requests) {
			t.Errorf("%s: the requests are %q, want %q", name, have, c.requests)
		}
	}
}

// TestTLSProxy: only a client that trusts both the proxy's CA and the registry's CA gets through.
func TestTLSProxy(t *testing.T) {
	r := testRegistries(t)
	for _, c := range []struct {
		trusted []*PKI
		want    []Request
	}{
		{[]*PKI{r.PKI, r.ProxyPKI}, []Request{{"proxy", "CONNECT proxied.internal:443: 200"}, {"registry", "GET /v2/: 200"}}},
		{[]*PKI{r.ProxyPKI}, []Request{{"proxy", "CONNECT proxied.internal:443: 200"}}},
		{[]*PKI{r.PKI}, nil},
	} {
		r.Requests.Clear()
		pool := x509.NewCertPool()
		for _, pki := range c.trusted {
			pool.AddCert(pki.ca)
		}
		transport := &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true,
			Proxy: http.ProxyURL(&url.URL{Scheme: "https", Host: r.TLSProxy}),
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+proxiedHost+"/v2/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := transport.RoundTrip(request); err == nil {
			answer.Body.Close()
		} else if len(c.want) == 2 {
			t.Error(err)
		}
		if have := r.Requests.All(); !slices.Equal(have, c.want) {
			t.Errorf("the requests are %q, want %q", have, c.want)
		}
	}
}
