package probe

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io/fs"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/test/hosttest"
)

const currentPEM = "/var/lib/kubelet/pki/kubelet-client-current.pem"

// kubeletPEM is a kubelet's certificate and key.
func kubeletPEM(t *testing.T, commonName string, notAfter time.Time) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: commonName, Organization: []string{"system:nodes"}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: notAfter,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	must(t, err)
	bytes, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	return certPEM(der), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: bytes}))
}

// files are the contents of paths.
type files map[string]string

func (f files) read(path string) ([]byte, error) {
	if content, ok := f[path]; ok {
		return []byte(content), nil
	}
	return nil, fmt.Errorf("read %s: %w", path, fs.ErrNotExist)
}

// leaseServer is an API server that requests a client certificate, as a real one does, and answers for leases.
func leaseServer(t *testing.T, auth tls.ClientAuthType, handler http.HandlerFunc) *resource.LeaseRenewed {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = quiet
	server.TLS = &tls.Config{ClientAuth: auth, ClientCAs: x509.NewCertPool()}
	server.StartTLS()
	t.Cleanup(server.Close)
	return &resource.LeaseRenewed{
		Server: server.URL, CertificateAuthority: certPEM(server.Certificate().Raw),
		Credentials: []resource.KeyPair{{Certificate: currentPEM}},
	}
}

func leaseJSON(renewed time.Time) string {
	return `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"node-1"},"spec":{"holderIdentity":"node-1","leaseDurationSeconds":40,"renewTime":"` +
		renewed.UTC().Format("2006-01-02T15:04:05.000000Z07:00") + `"}}`
}

// probeLease probes for a minute of a synctest bubble's time.
func probeLease(t *testing.T, wanted *resource.LeaseRenewed, read func(string) ([]byte, error)) error {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return defaultProber.probeLease(ctx, wanted, read)
}

func TestLeaseRenewed(t *testing.T) {
	certificate, key := kubeletPEM(t, "system:node:node-1", hosttest.Began.Add(time.Hour))
	now := hosttest.Began
	for name, test := range map[string]struct {
		renewed []time.Time // one for each request, the last for all others
		since   time.Time
	}{
		"at once":                     {[]time.Time{now.Add(time.Minute)}, time.Time{}},
		"after a while":               {[]time.Time{now.Add(-time.Minute), now.Add(-time.Minute), now.Add(time.Minute)}, time.Time{}},
		"since before":                {[]time.Time{now.Add(-time.Minute)}, now.Add(-time.Hour)},
		"at that very microsecond":    {[]time.Time{now.Truncate(time.Microsecond)}, now},
		"while the clock is set back": {[]time.Time{now.Add(-time.Minute), now.Add(-time.Hour)}, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			wanted := leaseServer(t, tls.RequestClientCert, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != leasePath+"node-1" || len(r.TLS.PeerCertificates) != 1 || r.TLS.PeerCertificates[0].Subject.CommonName != "system:node:node-1" || r.Header.Get("Authorization") != "" {
					t.Errorf("request %s with %d certificates", r.URL, len(r.TLS.PeerCertificates))
				}
				n := int(asked.Add(1))
				fmt.Fprint(w, leaseJSON(test.renewed[min(n, len(test.renewed))-1]))
			})
			wanted.Since = test.since
			synctest.Test(t, func(t *testing.T) { must(t, probeLease(t, wanted, files{currentPEM: certificate + key}.read)) })
			if got := int(asked.Load()); got != len(test.renewed) {
				t.Errorf("asked %d times", got)
			}
		})
	}
}

func TestLeaseFailures(t *testing.T) {
	certificate, key := kubeletPEM(t, "system:node:node-1", hosttest.Began.Add(time.Hour))
	old, oldKey := kubeletPEM(t, "system:node:node-1", hosttest.Began.Add(-time.Minute))
	good := files{currentPEM: certificate + key}
	lease := leaseJSON(hosttest.Began.Add(-time.Hour))
	for name, test := range map[string]struct {
		files  files
		status int
		body   string
		cause  resource.Cause
		want   []string
	}{
		"stale":          {good, 200, lease, resource.CauseUnhealthy, []string{"the lease of node node-1 was last renewed at 1999-12-31T23:00:00Z, and not since 2000-01-01T00:00:00Z", "(attempt"}},
		"never renewed":  {good, 200, `{"kind":"Lease","spec":{"renewTime":null}}`, resource.CauseUnhealthy, []string{"never renewed"}},
		"no lease":       {good, 404, "", resource.CauseUnhealthy, []string{"node node-1 has no lease"}},
		"refused":        {good, 401, "", resource.CauseCredential, []string{"refuses the kubelet's client certificate", "401"}},
		"forbidden":      {good, 403, "", resource.CauseCredential, []string{"node-1", "403"}},
		"expired":        {files{currentPEM: old + oldKey}, 401, "", resource.CauseCredential, []string{"client certificate expired at 1999-12-31T23:59:00Z"}},
		"unavailable":    {good, 503, "", resource.CauseConnection, []string{"HTTP status 503", "attempt"}},
		"other server":   {good, 200, "<html>", resource.CauseConnection, []string{"not a lease"}},
		"other kind":     {good, 200, `{"kind":"Status"}`, resource.CauseConnection, []string{"not a lease"}},
		"too long":       {good, 200, lease + strings.Repeat(" ", 1<<20) + "{", resource.CauseUnhealthy, []string{"last renewed at"}},
		"not joined":     {files{}, 200, lease, resource.CauseMissing, []string{currentPEM, "has not joined", "attempt"}},
		"no key":         {files{currentPEM: certificate}, 200, lease, resource.CauseCredential, []string{currentPEM, "holds no certificate with its key"}},
		"another's key":  {files{currentPEM: certificate + oldKey}, 200, lease, resource.CauseCredential, []string{"holds no certificate with its key"}},
		"no certificate": {files{currentPEM: ""}, 200, lease, resource.CauseCredential, []string{"holds no certificate with its key"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wanted := leaseServer(t, tls.RequestClientCert, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(test.status)
				w.Write([]byte(test.body))
			})
			synctest.Test(t, func(t *testing.T) {
				err := probeLease(t, wanted, test.files.read)
				wantCheckError(t, err, test.cause, test.want...)
				if took := time.Since(hosttest.Began); took > time.Minute || strings.Contains(err.Error(), "PRIVATE") {
					t.Errorf("took %s: %v", took, err)
				}
			})
		})
	}
	// A server that verifies certificates itself rejects one in the handshake.
	wanted := leaseServer(t, tls.RequireAndVerifyClientCert, func(http.ResponseWriter, *http.Request) {})
	synctest.Test(t, func(t *testing.T) {
		wantCheckError(t, probeLease(t, wanted, good.read), resource.CauseCredential, "refuses the certificate")
	})
	wanted.Server = "http://x"
	wantCheckError(t, probeLease(t, wanted, good.read), resource.CauseConnection, "not the https URL")
	wanted.Server = "https://slipway.invalid"
	ctx := hosttest.NewTimed(t)
	wantCheckError(t, nameless(ctx).probeLease(ctx, wanted, good.read), resource.CauseDNS, "slipway.invalid")
}

func TestLeaseCredentials(t *testing.T) {
	certificate, key := kubeletPEM(t, "system:node:node-1", time.Now().Add(time.Hour))
	installed, installedKey := kubeletPEM(t, "client", time.Now().Add(time.Hour))
	host, err := os.Hostname()
	must(t, err)
	both := []resource.KeyPair{{Certificate: currentPEM}, {Certificate: "/c.crt", Key: "/c.key"}}
	for _, test := range []struct {
		files      files
		node, want string
	}{
		{files{currentPEM: certificate + key, "/c.crt": installed, "/c.key": installedKey}, "", "node-1"},
		{files{"/c.crt": installed, "/c.key": installedKey}, "", strings.ToLower(host)},
		{files{"/c.crt": installed, "/c.key": installedKey}, "given", "given"},
		{files{"/c.crt": installed}, "given", ""},
		{files{currentPEM: certificate + key}, "../../secrets", ""},
		{files{}, "given", ""},
	} {
		l := &lease{LeaseRenewed: &resource.LeaseRenewed{Credentials: both, Node: test.node}, read: test.files.read}
		f := l.prepare(&target{})
		if test.want == "" && f == nil || test.want != "" && (f != nil || l.node != test.want) {
			t.Errorf("%q: got %q, %v", test.node, l.node, f)
		}
	}
}

// The kubelet's certificate appears, as a link, while the probe waits for it.
func TestLeaseOfAJoiningNode(t *testing.T) {
	certificate, key := kubeletPEM(t, "system:node:node-1", time.Now().Add(time.Hour))
	tree, at := newTree(t)
	wanted := leaseServer(t, tls.RequestClientCert, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, leaseJSON(time.Now().Add(time.Second)))
	})
	const dated = "/var/lib/kubelet/pki/kubelet-client-2026-01-01.pem"
	must(t, os.MkdirAll(filepath.Dir(at(dated)), 0o755))
	must(t, os.WriteFile(at(dated), []byte(certificate+key), 0o600))
	synctest.Test(t, func(t *testing.T) {
		time.AfterFunc(time.Second, func() { os.Symlink(dated, at(currentPEM)) })
		must(t, Wait(t.Context(), tree, nil, &resource.Check{Label: "lease", Timeout: resource.Duration(10 * time.Second), LeaseRenewed: wanted}))
	})
}
