package probe

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/hosttest"
)

const kubeletSettings = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nclusterDNS: [10.96.0.10]\n"

// configMap is the API server's document of the ConfigMap with a text.
func configMap(text string) string {
	body, _ := json.Marshal(map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "data": map[string]string{"kubelet": text}})
	return string(body)
}

// nodeFiles are the credentials of a node: a kubeconfig with its bootstrap token, and a client certificate.
func nodeFiles(t *testing.T, token bool, certificateAlso bool) (way *resource.AsNode, read func(string) ([]byte, error)) {
	t.Helper()
	files := map[string]string{}
	if token {
		files["/bootstrap"] = "apiVersion: v1\nkind: Config\nusers:\n- name: x\n  user:\n    token: " + probeToken + "\n"
	}
	if certificateAlso {
		pair, authority := certificate(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
		key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
		must(t, err)
		files["/pair"] = authority + string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	}
	way = &resource.AsNode{Bootstrap: "/bootstrap", Credentials: []resource.KeyPair{{Certificate: "/pair"}}}
	return way, func(path string) ([]byte, error) {
		if text, ok := files[path]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
}

// closed is a channel that is closed.
func closed() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// impatient is a prober without delays.
func impatient() *prober {
	p := *defaultProber
	p.firstDelay, p.maxDelay = 0, 0
	return &p
}

func TestFetchKubeletDefaults(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		cause  resource.Cause
		want   string
	}{
		"the configuration": {status: 200, body: configMap(kubeletSettings)},
		"refused":           {status: 401, cause: resource.CauseCredential, want: "HTTP status 401"},
		"forbidden":         {status: 403, cause: resource.CauseForbidden, want: "HTTP status 403"},
		"none":              {status: 404, cause: resource.CauseMissing, want: "HTTP status 404"},
		"a redirect":        {status: 302, cause: resource.CauseConnection, want: "HTTP status 302"},
		"no ConfigMap":      {status: 200, body: `{"kind":"Status"}`, cause: resource.CauseContent, want: "is no ConfigMap"},
		"no JSON":           {status: 200, body: "<html>", cause: resource.CauseContent, want: "is no ConfigMap"},
		"another key":       {status: 200, body: `{"kind":"ConfigMap","data":{"x":"y"}}`, cause: resource.CauseContent, want: "is no ConfigMap"},
		"too much":          {status: 200, body: configMap(strings.Repeat("#", maxDefaults)), cause: resource.CauseContent, want: "more than 262144 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			_, target := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if requests.Add(1); r.URL.Path != "/api/v1/namespaces/kube-system/configmaps/kubelet-config" || r.Header.Get("Authorization") != "Bearer "+probeToken {
					t.Errorf("request %s with %q", r.URL, r.Header.Get("Authorization"))
				}
				w.Header().Set("Location", "https://elsewhere.invalid")
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			})
			way, read := nodeFiles(t, true, false)
			way.Server, way.CertificateAuthority = target.Server, target.CertificateAuthority
			got, err := impatient().kubeletDefaults(t.Context(), way, read, closed())
			if requests.Load() != 1 {
				t.Errorf("the server is asked %d times", requests.Load())
			}
			if c.cause != "" {
				wantCheckError(t, err, c.cause, c.want)
				return
			}
			must(t, err)
			if string(got) != kubeletSettings {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestAskAgainWithCertificate: a joined node has an expired token and its certificate. While the credential is missing,
// the prober waits for it.
func TestAskAgainWithCertificate(t *testing.T) {
	var requests atomic.Int32
	_, target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch requests.Add(1) {
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2:
			if r.Header.Get("Authorization") == "" {
				t.Error("the token is not shown")
			}
			w.WriteHeader(http.StatusUnauthorized)
		default:
			if r.Header.Get("Authorization") != "" {
				t.Error("a refused token is shown again")
			}
			_, _ = w.Write([]byte(configMap(kubeletSettings)))
		}
	})
	way, files := nodeFiles(t, true, true)
	way.Server, way.CertificateAuthority = target.Server, target.CertificateAuthority
	missing := 3
	got, err := impatient().kubeletDefaults(t.Context(), way, func(path string) ([]byte, error) {
		if missing--; missing > 0 {
			return nil, fs.ErrNotExist
		}
		return files(path)
	}, make(chan struct{}))
	must(t, err)
	if string(got) != kubeletSettings || requests.Load() != 3 {
		t.Errorf("got %q after %d requests", got, requests.Load())
	}
}

// TestAskOnce: if a server has accepted the request and sends nothing, there is no other request.
func TestAskOnce(t *testing.T) {
	var requests atomic.Int32
	hang := make(chan struct{})
	ctx := hosttest.NewTimed(t)
	_, target := serve(t, func(http.ResponseWriter, *http.Request) { requests.Add(1); ctx.Over(); <-hang })
	t.Cleanup(func() { close(hang) })
	way, read := nodeFiles(t, true, false)
	way.Server, way.CertificateAuthority = target.Server, target.CertificateAuthority
	_, err := impatient().kubeletDefaults(ctx, way, read, closed())
	wantCheckError(t, err, resource.CauseConnection, "no answer to GET")
	if requests.Load() != 1 {
		t.Errorf("the server is asked %d times", requests.Load())
	}
}

// TestGiveUpWhenReady: an unreachable server is tried until nothing else delays the kubelet.
func TestGiveUpWhenReady(t *testing.T) {
	_, target := serve(t, func(http.ResponseWriter, *http.Request) {})
	way, _ := nodeFiles(t, true, false)
	way.Server, way.CertificateAuthority = target.Server, target.CertificateAuthority
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	looks := 0
	_, err := impatient().kubeletDefaults(ctx, way, func(string) ([]byte, error) {
		if looks++; looks == 20 {
			cancel()
		}
		return nil, fs.ErrNotExist
	}, make(chan struct{}))
	wantCheckError(t, err, resource.CauseMissing, "no credential")
	if looks < 20 {
		t.Errorf("given up after %d looks", looks)
	}
}

// TestPatienceForNetwork: while the machine has no network, the server's time does not count, and a started attempt is
// not cut off. A server that refuses connections has one limit, and a machine without a network has another.
func TestPatienceForNetwork(t *testing.T) {
	none := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ENETUNREACH)}
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for name, c := range map[string]struct {
		// seconds are the durations of the attempts, errs their errors; after the last of them the server answers.
		seconds int
		errs    []error
		asked   bool
	}{
		"a network that is late":          {2, []error{none, none, none, none, none, none, none, none}, true},
		"a network that comes and goes":   {2, []error{none, refused, none, none, none}, true},
		"no network":                      {4, slices.Repeat([]error{none}, 100), false},
		"a server that is late":           {1, []error{refused, refused}, true},
		"a server that is late, too long": {1, slices.Repeat([]error{refused}, 100), false},
		"an attempt that takes long":      {100, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, target := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(configMap(kubeletSettings))) })
			way, read := nodeFiles(t, true, false)
			way.Server, way.CertificateAuthority = target.Server, target.CertificateAuthority
			p, clock, attempts := impatient(), time.Unix(0, 0), 0
			p.now = func() time.Time { return clock }
			connected := p.connect
			p.connect = func(ctx context.Context, addresses []netip.Addr, port string) (net.Conn, netip.AddrPort, error) {
				clock = clock.Add(time.Duration(c.seconds) * time.Second)
				if attempts++; attempts <= len(c.errs) {
					return nil, netip.AddrPort{}, c.errs[attempts-1]
				}
				return connected(ctx, addresses, port)
			}
			got, err := p.kubeletDefaults(t.Context(), way, read, closed())
			if asked := err == nil && string(got) == kubeletSettings; asked != c.asked || !asked && attempts >= len(c.errs) {
				t.Errorf("after %d attempts: %q, %v", attempts, got, err)
			}
		})
	}
}

func TestTokenInKubeconfig(t *testing.T) {
	for text, want := range map[string]string{
		"users: [{name: a, user: {token: " + nodeconfig.NewSecret("abcdef.0123456789abcdef").Reveal() + "}}]": "abcdef.0123456789abcdef",
		"users: [{name: a, user: {token: \"a\\r\\nb\"}}]":                                                     "",
		"users: [{user: {token: a}}, {user: {token: b}}]":                                                     "",
		"users: []": "", "{": "", "": "", "users: [1]": "",
	} {
		if got := tokenIn([]byte(text)); got != want {
			t.Errorf("%q: got %q", text, got)
		}
	}
}
