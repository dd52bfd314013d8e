package probe

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/hosttest"
)

const probeToken = "abcdef.0123456789abcdef"

// nameless is a prober that resolves no name, and has time for only one attempt.
func nameless(ctx *hosttest.Timed) *prober {
	p := *defaultProber
	p.resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ctx.Over()
		return nil, errors.New("no network here")
	}}
	return &p
}

// certificate makes a self-signed certificate for 127.0.0.1.
func certificate(t *testing.T, notBefore, notAfter time.Time) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: notBefore, NotAfter: notAfter,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, certPEM(der)
}

func certPEM(der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// serve starts an API server with one handler.
func serve(t *testing.T, handler http.HandlerFunc) (*httptest.Server, *resource.APIServer) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = quiet
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, &resource.APIServer{
		Server: server.URL, CertificateAuthority: certPEM(server.Certificate().Raw), Token: resource.Hidden{Secret: nodeconfig.NewSecret(probeToken)},
	}
}

// wantCheckError requires a failed check with a cause, without the token in the error.
func wantCheckError(t *testing.T, err error, cause resource.Cause, texts ...string) {
	t.Helper()
	var checkErr *apply.CheckError
	if !errors.As(err, &checkErr) {
		t.Fatalf("got %v, want a check's error", err)
	}
	if checkErr.Cause != cause {
		t.Errorf("cause %s, want %s: %v", checkErr.Cause, cause, err)
	}
	if strings.Contains(err.Error(), probeToken) {
		t.Errorf("error %q has the token in it", err)
	}
	wantError(t, err, texts...)
}

func TestProbeAnswers(t *testing.T) {
	for _, test := range []struct {
		name    string
		status  int
		noToken bool
		cause   resource.Cause
		want    string
		once    bool // only one request is made
	}{
		{"ok", 200, false, "", "", true},
		{"forbidden", 403, false, "", "", true},
		{"unauthorized", 401, false, resource.CauseCredential, "refuses the token", false},
		{"unauthorized without a token", 401, true, "", "", true},
		{"redirect", 302, false, resource.CauseConnection, "HTTP status 302", true},
		{"not found", 404, false, resource.CauseConnection, "HTTP status 404", true},
		{"unavailable", 503, false, resource.CauseConnection, "HTTP status 503", false},
		{"too many", 429, false, resource.CauseConnection, "HTTP status 429", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var requests atomic.Int32
			server, target := serve(t, func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				wantToken := "Bearer " + probeToken
				if test.noToken {
					wantToken = ""
				}
				if r.Method != "GET" || r.URL.Path != "/version" || r.Header.Get("Authorization") != wantToken {
					t.Errorf("request %s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
				}
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(test.status)
			})
			if test.noToken {
				target.Token = resource.Hidden{}
			}
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err := defaultProber.probe(ctx, target)
				if test.cause == "" {
					must(t, err)
				} else {
					address := strings.TrimPrefix(server.URL, "https://")
					wantCheckError(t, err, test.cause, server.URL+" ("+address+")", test.want)
				}
			})
			if got := requests.Load(); (got == 1) != test.once {
				t.Errorf("%d requests", got)
			}
		})
	}
}

func TestProbeBody(t *testing.T) {
	// The body has no end; the first line has the answer.
	_, target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		chunk := make([]byte, 1<<20)
		for r.Context().Err() == nil {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	must(t, defaultProber.probe(t.Context(), target))
	_, target = serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X", strings.Repeat("x", 1<<20))
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		wantCheckError(t, defaultProber.probe(ctx, target), resource.CauseConnection, "exceeded")
	})
}

func TestProbeRecovers(t *testing.T) {
	statuses := []int{503, 429, 500, 401, 200}
	var requests atomic.Int32
	_, target := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		status := statuses[requests.Add(1)-1]
		if status == 500 {
			panic(http.ErrAbortHandler) // the connection is cut
		}
		w.WriteHeader(status)
	})
	synctest.Test(t, func(t *testing.T) { must(t, defaultProber.probe(t.Context(), target)) })
	if got := requests.Load(); got != int32(len(statuses)) {
		t.Errorf("%d requests", got)
	}
}

func TestProbeCertificates(t *testing.T) {
	now := time.Now()
	good, goodPEM := certificate(t, now.Add(-time.Hour), now.Add(time.Hour))
	_, otherPEM := certificate(t, now.Add(-time.Hour), now.Add(time.Hour))
	old, oldPEM := certificate(t, now.Add(-2*time.Hour), now.Add(-time.Hour))
	early, earlyPEM := certificate(t, now.Add(time.Hour), now.Add(2*time.Hour))
	for _, test := range []struct {
		name, authority, host string
		certificates          []tls.Certificate // one for each handshake; the last for all others
		want                  string            // "" means success
		tries                 int32
	}{
		{"good", goodPEM, "127.0.0.1", []tls.Certificate{good}, "", 1},
		{"unknown authority", otherPEM, "127.0.0.1", []tls.Certificate{good}, "unknown authority", 1},
		{"other name", goodPEM, "localhost", []tls.Certificate{good}, "localhost", 1},
		{"expired", oldPEM, "127.0.0.1", []tls.Certificate{old}, "expired", 1},
		{"not yet valid", earlyPEM + goodPEM, "127.0.0.1", []tls.Certificate{early, early, good}, "", 3},
		{"no authority", "", "127.0.0.1", []tls.Certificate{good}, "holds no certificate", 0},
		{"empty authority", "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n", "127.0.0.1", []tls.Certificate{good}, "holds no certificate", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			var handshakes atomic.Int32
			server := httptest.NewUnstartedServer(http.NotFoundHandler())
			server.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
			server.Config.ErrorLog = quiet
			server.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
				n := int(handshakes.Add(1))
				return &tls.Config{Certificates: test.certificates[min(n, len(test.certificates))-1:][:1]}, nil
			}}
			server.StartTLS()
			defer server.Close()
			err := defaultProber.probe(t.Context(), &resource.APIServer{
				Server:               strings.Replace(server.URL, "127.0.0.1", test.host, 1),
				CertificateAuthority: test.authority,
			})
			if test.want == "" {
				must(t, err)
			} else {
				wantCheckError(t, err, resource.CauseTLS, test.want)
			}
			if got := handshakes.Load(); got != test.tries {
				t.Errorf("%d handshakes, want %d", got, test.tries)
			}
		})
	}
}

func TestProbeConnections(t *testing.T) {
	_, authority := certificate(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	closed := "https://" + listener.Addr().String()
	must(t, listener.Close())

	// behave starts a server that does something other than TLS.
	behave := func(do func(net.Conn)) string { return "https://" + accepting(t, do) }
	target := func(server string) *resource.APIServer {
		return &resource.APIServer{Server: server, CertificateAuthority: authority, Token: resource.Hidden{Secret: nodeconfig.NewSecret(probeToken)}}
	}
	for _, test := range []struct {
		name, server string
		cause        resource.Cause
		want         []string
	}{
		{"closed port", closed, resource.CauseConnection, []string{closed + " (", "connection refused", "attempt"}},
		{"hangs up", behave(func(c net.Conn) { c.Close() }), resource.CauseConnection, []string{"tls handshake"}},
		{"resets", behave(func(c net.Conn) { c.(*net.TCPConn).SetLinger(0); c.Close() }), resource.CauseConnection, nil},
		{"plain HTTP", behave(func(c net.Conn) { c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }), resource.CauseTLS, []string{"tls"}},
		{"not https", "http://127.0.0.1", resource.CauseConnection, []string{"not the https URL"}},
		{"no host", "https://:443", resource.CauseConnection, []string{"not the https URL"}},
		{"no URL", "127.0.0.1:443\x00", resource.CauseConnection, []string{"not the https URL"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				start := time.Now()
				wantCheckError(t, defaultProber.probe(ctx, target(test.server)), test.cause, test.want...)
				if took := time.Since(start); took > time.Minute {
					t.Errorf("took %s", took)
				}
			})
		})
	}
	ctx := hosttest.NewTimed(t)
	wantCheckError(t, defaultProber.probe(ctx, target(behave(func(c net.Conn) {
		c.Read(make([]byte, 1)) // the client's half of the handshake
		ctx.Over()
	}))), resource.CauseConnection, "tls handshake")
	ctx = hosttest.NewTimed(t)
	wantCheckError(t, nameless(ctx).probe(ctx, target("https://api.slipway.invalid:6443")), resource.CauseDNS, "https://api.slipway.invalid:6443:")
}

// The person who must correct a name depends on the server that does not know it.
func TestUnresolved(t *testing.T) {
	for server, want := range map[string]resource.Cause{
		"168.63.129.16:53": resource.CauseCloudDNS, "10.0.0.4:53": resource.CauseDNS, "[fe80::1]:53": resource.CauseDNS, "": resource.CauseDNS,
	} {
		if got := unresolved(fmt.Errorf("wrapped: %w", &net.DNSError{Err: "no such host", Server: server})); got != want {
			t.Errorf("%s: %s, want %s", server, got, want)
		}
	}
	if got := unresolved(errors.New("no network")); got != resource.CauseDNS {
		t.Error(got)
	}
}

func TestProbeSlowServer(t *testing.T) {
	ctx := hosttest.NewTimed(t)
	_, target := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		ctx.Over()
		never(r)
	})
	wantCheckError(t, defaultProber.probe(ctx, target), resource.CauseConnection, "no answer to GET /version")

	// The error has the earlier finding, not only that the time was over.
	var requests atomic.Int32
	ctx = hosttest.NewTimed(t)
	_, target = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) > 1 {
			ctx.Over()
			never(r)
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	wantCheckError(t, defaultProber.probe(ctx, target), resource.CauseConnection, "HTTP status 503", "attempt 2")
}

// never answers a request. If the handler returned when the client hangs up, it would still answer, and the client may
// read that before it has closed its end.
func never(r *http.Request) {
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

func TestProbeTokenThatCannotBeSent(t *testing.T) {
	_, target := serve(t, func(http.ResponseWriter, *http.Request) {})
	target.Token = resource.Hidden{Secret: nodeconfig.NewSecret(probeToken + "\n")}
	wantCheckError(t, defaultProber.probe(t.Context(), target), resource.CauseCredential, "cannot be sent")
}

func TestProbeUsesNoProxy(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	_, target := serve(t, func(http.ResponseWriter, *http.Request) {})
	target.Server += "/"
	must(t, defaultProber.probe(t.Context(), target))
	must(t, wait(t.Context(), &resource.Check{APIServer: target}))
}
