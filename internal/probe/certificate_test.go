package probe

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/tlsbootstrap"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/hosttest"
)

// signer is an API server that accepts certificate requests, and processes them as a case defines.
type signer struct {
	*httptest.Server
	// posts are the answers to posted requests, in order; the last one repeats. 0 accepts the request and loses the
	// answer.
	posts []int
	// watch answers a watch of a request. If it returns false, the connection stays open until the client ends it. If
	// nil, watches get no answer.
	watch func(s *signer, w io.Writer) (ends bool)
	// shown is the answer to a client with the issued certificate.
	shown int
	// last is the number of the watch at which the kubelet waits for nothing else. 0 means never.
	last  int
	ready chan struct{}

	mu          sync.Mutex
	asked       int
	names       map[string]bool
	request     *x509.CertificateRequest
	name        string
	connections int
	watched     int
}

// silence means that a posted request gets no answer.
const silence = -1

var signerKey, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)

func (s *signer) start(t testing.TB, listener ...net.Listener) {
	s.names, s.ready = make(map[string]bool), make(chan struct{})
	s.Server = httptest.NewUnstartedServer(s)
	for _, l := range listener {
		s.Listener.Close()
		s.Listener = l
	}
	s.Config.ErrorLog = quiet
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.connections++
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
}

func (s *signer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case len(r.TLS.PeerCertificates) > 0:
		w.WriteHeader(s.shown)
	case r.Header.Get("Authorization") != "Bearer "+probeToken:
		http.Error(w, "no token", http.StatusTeapot)
	case r.Method == http.MethodPost && r.URL.Path == tlsbootstrap.RequestsPath:
		status := s.take(r)
		if status == silence {
			<-r.Context().Done()
			return
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"kind":"Status","message":"the server has its reasons"}`)
	case r.URL.Query().Get("fieldSelector") != "metadata.name="+s.name || r.URL.Query().Get("watch") != "true":
		http.Error(w, "not what is watched", http.StatusTeapot)
	default:
		s.mu.Lock()
		if s.watched++; s.watched == s.last {
			close(s.ready)
		}
		s.mu.Unlock()
		if s.watch == nil {
			<-r.Context().Done()
			return
		}
		ends := s.watch(s, w)
		w.(http.Flusher).Flush()
		if !ends {
			<-r.Context().Done()
		}
	}
}

// take accepts a request and returns the answer. If the answer is lost, take ends the connection.
func (s *signer) take(r *http.Request) int {
	var object struct {
		Metadata struct{ Name string }
		Spec     struct{ Request []byte }
	}
	if err := json.NewDecoder(r.Body).Decode(&object); err != nil {
		return http.StatusTeapot
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.posts[min(s.asked, len(s.posts)-1)]
	s.asked++
	s.names[object.Metadata.Name] = true
	if status != 0 && status != http.StatusCreated && status != http.StatusConflict {
		return status
	}
	block, _ := pem.Decode(object.Spec.Request)
	s.request, _ = x509.ParseCertificateRequest(block.Bytes)
	s.name = object.Metadata.Name
	if status == 0 {
		panic(http.ErrAbortHandler)
	}
	return status
}

// issue is a certificate for the request, or for another.
func (s *signer) issue(edit func(*x509.Certificate, *any)) string {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(7), Subject: s.request.Subject, NotBefore: hosttest.Began.Add(-time.Hour), NotAfter: hosttest.Began.Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	key := s.request.PublicKey
	if edit != nil {
		edit(template, &key)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, &x509.Certificate{Subject: pkix.Name{CommonName: "ca"}}, key, signerKey)
	if err != nil {
		panic(err)
	}
	return certPEM(der)
}

// event is a watch's event about a request with a condition, and a certificate if it was issued.
func (s *signer) event(kind, condition, certificate string) string {
	conditions := "[]"
	if condition != "" {
		conditions = fmt.Sprintf(`[{"type":%q,"status":"True","reason":"R","message":"why"}]`, condition)
	}
	return fmt.Sprintf(`{"type":%q,"object":{"kind":"CertificateSigningRequest","metadata":{"name":%q},"status":{"conditions":%s,"certificate":%q}}}`+"\n",
		kind, s.name, conditions, base64.StdEncoding.EncodeToString([]byte(certificate)))
}

// The server's answers to watches.
var (
	says = func(text string) func(*signer, io.Writer) bool {
		return func(_ *signer, w io.Writer) bool { _, _ = io.WriteString(w, text); return true }
	}
	reports = func(condition string, certificate func(*signer) string) func(*signer, io.Writer) bool {
		return func(s *signer, w io.Writer) bool {
			text := s.event("ADDED", "", "")
			if condition != "" {
				text += s.event("MODIFIED", condition, "")
			}
			if certificate != nil {
				text += s.event("MODIFIED", condition, certificate(s))
			}
			_, _ = io.WriteString(w, text)
			return false
		}
	}
	issuedAs = func(edit func(*x509.Certificate, *any)) func(*signer, io.Writer) bool {
		return reports("Approved", func(s *signer) string { return s.issue(edit) })
	}
	issued = issuedAs(nil)
)

// approved reports that the request is approved, and ends the watch. The next watch reports nothing.
func approved(s *signer, w io.Writer) bool {
	if s.watched > 1 {
		return false
	}
	_, _ = io.WriteString(w, s.event("ADDED", "Approved", ""))
	return true
}

// later issues the certificate to the second watch.
func later(s *signer, w io.Writer) bool {
	if s.watched > 1 {
		return issued(s, w)
	}
	_, _ = io.WriteString(w, s.event("ADDED", "", ""))
	return true
}

func certificateOf(s *signer) *resource.Certificate {
	return &resource.Certificate{
		Label: "kubelet-client", Node: "node-1", Usages: tlsbootstrap.Usages(false), // without patience
		APIServer: resource.APIServer{
			Server: s.URL, CertificateAuthority: certPEM(s.Certificate().Raw), Token: resource.Hidden{Secret: nodeconfig.NewSecret(probeToken)},
		},
	}
}

func TestRequestCertificate(t *testing.T) {
	created := []int{http.StatusCreated}
	for name, c := range map[string]struct {
		*signer
		// atOnce means that the kubelet waits for nothing else from the beginning.
		atOnce bool
		// cause is why the request fails, with parts of the message. Empty means that it succeeds.
		cause resource.Cause
		words string
	}{
		"approved at once":        {signer: &signer{posts: created, watch: issued}},
		"approved late":           {signer: &signer{posts: created, watch: later}},
		"the answer is lost":      {signer: &signer{posts: []int{0, http.StatusConflict}, watch: issued}},
		"busy at first":           {signer: &signer{posts: []int{http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusInternalServerError, http.StatusCreated}, watch: issued}},
		"a token that comes late": {signer: &signer{posts: []int{http.StatusUnauthorized, http.StatusUnauthorized, http.StatusCreated}, watch: issued}},
		"a token that is refused": {signer: &signer{posts: []int{http.StatusUnauthorized}}, cause: resource.CauseCredential, words: "token"},
		"a group without the right": {signer: &signer{posts: []int{http.StatusForbidden}}, atOnce: true, cause: resource.CauseForbidden,
			words: "the token may not ask for a certificate: the server has its reasons"},
		"denied": {signer: &signer{posts: created, watch: reports("Denied", nil)}, cause: resource.CauseDenied, words: "was denied: R: why"},
		"failed": {signer: &signer{posts: created, watch: reports("Failed", nil)}, cause: resource.CauseSigner,
			words: "was approved, and the signer failed: R: why"},
		"never approved": {signer: &signer{posts: created, watch: reports("", nil), last: 1}, cause: resource.CauseUnapproved, words: "is not approved"},
		"never signed": {signer: &signer{posts: created, watch: approved, last: 2}, cause: resource.CauseSigner,
			words: "is approved, but not signed"},
		"removed": {signer: &signer{posts: created, watch: func(s *signer, w io.Writer) bool {
			_, _ = io.WriteString(w, s.event("ADDED", "", "")+s.event("DELETED", "", ""))
			return false
		}}, cause: resource.CauseUnapproved, words: "was removed before anybody approved it"},
		"for another key": {signer: &signer{posts: created, watch: issuedAs(func(_ *x509.Certificate, key *any) { *key = &signerKey.PublicKey })},
			cause: resource.CauseUnusable, words: "another key"},
		"for another name": {signer: &signer{posts: created, watch: issuedAs(func(c *x509.Certificate, _ *any) { c.Subject.CommonName = "system:node:other" })},
			cause: resource.CauseUnusable, words: `"system:node:other"`},
		"for no node": {signer: &signer{posts: created, watch: issuedAs(func(c *x509.Certificate, _ *any) { c.Subject.Organization = nil })},
			cause: resource.CauseUnusable, words: "system:nodes"},
		"expired": {signer: &signer{posts: created, watch: issuedAs(func(c *x509.Certificate, _ *any) { c.NotAfter = hosttest.Began.Add(-time.Minute) })},
			cause: resource.CauseUnusable, words: "expired"},
		"no PEM": {signer: &signer{posts: created, watch: reports("Approved", func(*signer) string { return "a certificate" })},
			cause: resource.CauseUnusable, words: "not a certificate in PEM"},
		"by another authority": {signer: &signer{posts: created, watch: issued, shown: http.StatusUnauthorized},
			cause: resource.CauseUnusable, words: "refuses the certificate that it has issued"},
		"may not watch": {signer: &signer{posts: created, watch: func(_ *signer, w io.Writer) bool {
			w.(http.ResponseWriter).WriteHeader(http.StatusForbidden)
			return true
		}}, atOnce: true, cause: resource.CauseForbidden, words: "may not watch"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := c.signer
			if s.shown == 0 {
				s.shown = http.StatusOK
			}
			s.start(t)
			wanted := certificateOf(s)
			if c.atOnce {
				wanted.Patience = resource.Duration(time.Minute)
			}
			synctest.Test(t, func(t *testing.T) {
				ready := s.ready
				if s.last == 0 {
					ready = make(chan struct{})
				}
				if c.atOnce {
					close(ready)
				}
				got, err := hasty().certificate(t.Context(), wanted, ready, hostName)
				s.judge(t, got, err, c.cause, c.words)
			})
		})
	}
}

// judge requires one request, over one connection if it was not interrupted, and a certificate or the error.
func (s *signer) judge(t *testing.T, got *apply.Issued, err error, cause resource.Cause, words string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.names) != 1 {
		t.Errorf("%d certificates were asked for", len(s.names))
	}
	if cause != "" {
		check, ok := errors.AsType[*apply.CheckError](err)
		if !ok || check.Cause != cause || !strings.Contains(err.Error(), words) || check.Endpoint == "" {
			t.Errorf("got %v, want %s and %q", err, cause, words)
		}
		if strings.Contains(fmt.Sprint(err, got), probeToken) {
			t.Error("the token is shown")
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(got.Pair, got.Pair)
	if err != nil || pair.Leaf.Subject.CommonName != "system:node:node-1" || got.Node != "node-1" {
		t.Errorf("the pair is for %s, %v", pair.Leaf.Subject, err)
	}
	var steps []string
	for _, step := range got.Steps {
		steps = append(steps, step.Name)
	}
	if s.asked == 1 {
		if want := "certificate connection, certificate request, certificate approval, certificate used"; strings.Join(steps, ", ") != want {
			t.Errorf("steps: %q", steps)
		}
		if s.connections != 2 { // one more with the certificate
			t.Errorf("%d connections", s.connections)
		}
	}
}

// If a watch breaks off, or reports an invalid event, it begins again. The request is not sent again.
func TestWatchBreaksOff(t *testing.T) {
	for name, odd := range map[string]func(*signer, io.Writer) bool{
		"nothing":        says(""),
		"half an event":  says(`{"type":"ADDED","object":{"kind":"Cert`),
		"no JSON":        says("gone\n"),
		"an error":       says(`{"type":"ERROR","object":{"kind":"Status","message":"too old"}}`),
		"another object": says(`{"type":"ADDED","object":{"kind":"Pod"}}`),
		"too much":       says(`{"type":"ADDED","object":{"kind":"` + strings.Repeat("x", maxRequest) + `"}}`),
		"another name":   says(`{"type":"ADDED","object":{"kind":"CertificateSigningRequest","metadata":{"name":"other"},"status":{"certificate":"eA=="}}}`),
		"unavailable": func(_ *signer, w io.Writer) bool {
			w.(http.ResponseWriter).WriteHeader(http.StatusServiceUnavailable)
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &signer{posts: []int{http.StatusCreated}, shown: http.StatusOK, watch: func(s *signer, w io.Writer) bool {
				if s.watched < 3 {
					return odd(s, w)
				}
				return issued(s, w)
			}}
			s.start(t)
			wanted := certificateOf(s)
			synctest.Test(t, func(t *testing.T) {
				got, err := hasty().certificate(t.Context(), wanted, make(chan struct{}), hostName)
				if err != nil {
					t.Fatal(err)
				}
				if s.asked != 1 || len(got.Pair) == 0 {
					t.Errorf("asked %d times", s.asked)
				}
			})
		})
	}
}

// hasty does not wait between two watches: an open connection uses the real network, on which a test's clock does not
// advance (testing/synctest).
func hasty() *prober {
	p := *defaultProber
	p.sleep = func(ctx context.Context, _ time.Duration) bool { return ctx.Err() == nil }
	return &p
}

// TestWatchesHaveAFloor: however a server ends a watch, the node does not send the next one at once.
func TestWatchesHaveAFloor(t *testing.T) {
	for name, ends := range map[string]func(*signer, io.Writer) bool{
		"at once":       says(""),
		"one event":     func(s *signer, w io.Writer) bool { _, _ = io.WriteString(w, s.event("ADDED", "", "")); return true },
		"expired":       says(`{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}`),
		"no JSON":       says("{{{{"),
		"other objects": says(strings.Repeat(`{"type":"ADDED","object":{"kind":"CertificateSigningRequest","metadata":{"name":"other"}}}`, 10)),
		"busy": func(_ *signer, w io.Writer) bool {
			w.(http.ResponseWriter).WriteHeader(http.StatusTooManyRequests)
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &signer{posts: []int{http.StatusCreated}, watch: ends}
			s.start(t)
			wanted := certificateOf(s)
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 20*watchInterval)
				defer cancel()
				p := *defaultProber
				var waited time.Duration
				p.sleep = func(_ context.Context, d time.Duration) bool {
					if waited += max(d, 0); waited > 20*watchInterval {
						cancel()
					}
					return ctx.Err() == nil
				}
				_, err := p.certificate(ctx, wanted, make(chan struct{}), hostName)
				if took := waited + time.Since(hosttest.Began); err == nil || s.watched < 2 || took < time.Duration(s.watched-1)*watchInterval {
					t.Errorf("%d watches in %s: %v", s.watched, took, err)
				}
			})
		})
	}
}

// A host that has no name yet sends no request. The agent waits for the name until the kubelet waits for nothing else,
// and the name may be the last thing that it waits for.
func TestHostWithoutName(t *testing.T) {
	const ready = 3 * time.Second
	for name, c := range map[string]struct {
		// at is when the host gets a name. 0 means never.
		at    time.Duration
		until string // its name before
		err   error  // why there is no name
		want  time.Duration
	}{
		"a name that comes":                {at: time.Second, until: "localhost", want: time.Second},
		"a name that comes last":           {at: ready, until: "localhost", want: ready},
		"a name after an invalid one":      {at: time.Second, until: "(none)", want: time.Second},
		"a name that cannot be looked up":  {at: time.Second, err: errors.New("no name"), want: time.Second},
		"a name that does not come":        {until: "localhost", want: ready},
		"a name that never can be read":    {err: errors.New("no name"), want: ready},
		"a name that comes when all waits": {at: ready + time.Second, until: "localhost", want: ready},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWire()
				s := &signer{posts: []int{http.StatusCreated}, watch: issued, shown: http.StatusOK}
				s.start(t, w)
				wanted := certificateOf(s)
				wanted.Node, wanted.Patience = "", resource.Duration(time.Minute)
				p := *defaultProber
				p.connect = w.connect
				begin := time.Now()
				host := func() (string, error) {
					if c.at == 0 || time.Since(begin) < c.at {
						return c.until, c.err
					}
					return "node-1", nil
				}
				all := make(chan struct{})
				time.AfterFunc(ready, func() { close(all) })
				got, err := p.certificate(t.Context(), wanted, all, host)
				if took := time.Since(begin); took < c.want || took > c.want+nameInterval {
					t.Errorf("it takes %s", took)
				}
				if c.at > 0 && c.at <= ready {
					if err != nil || got.Node != "node-1" || got.Steps[0].Name != "host name" || len(got.Pair) == 0 {
						t.Errorf("got %+v, %v", got, err)
					}
					return
				}
				if check, ok := errors.AsType[*apply.CheckError](err); !ok || check.Cause != resource.CauseMissing || s.asked > 0 {
					t.Errorf("got %v, asked %d times", err, s.asked)
				}
			})
		})
	}
}

// From the key to the pair, over loopback.
func BenchmarkRequestCertificate(b *testing.B) {
	s := &signer{posts: []int{http.StatusCreated}, shown: http.StatusOK, watch: issued}
	s.start(b)
	wanted := certificateOf(s)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := defaultProber.certificate(b.Context(), wanted, make(chan struct{}), hostName); err != nil {
			b.Fatal(err)
		}
	}
}
