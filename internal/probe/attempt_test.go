package probe

import (
	"bufio"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/hosttest"
)

// connectProxy is a proxy that answers CONNECT with a status, and connects if that is 200.
func connectProxy(t *testing.T, status string) string {
	return accepting(t, func(conn net.Conn) {
		defer conn.Close()
		request, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 "+status+"\r\n\r\n")
		if !strings.HasPrefix(status, "200") {
			return
		}
		to, err := net.Dial("tcp", request.Host)
		if err != nil {
			return
		}
		defer to.Close()
		go func() { _, _ = io.Copy(to, conn) }()
		_, _ = io.Copy(conn, to)
	})
}

func TestAttemptReportsHowFarItCame(t *testing.T) {
	server, known := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer "+probeToken {
			w.Header().Set("X-Knows", "yes")
		}
		_, _ = io.WriteString(w, "an answer that is cut")
	})
	at := strings.TrimPrefix(server.URL, "https://")
	_, oldCA := certificate(t, time.Now().Add(-time.Hour), time.Now().Add(-time.Minute))
	over := hosttest.NewTimed(t) // when the silent server has the client's first packet
	silent := accepting(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 1))
		over.Over()
		_, _ = io.Copy(io.Discard, conn)
	})
	ending := accepting(t, func(conn net.Conn) { conn.Close() })
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	nothing := free.Addr().String()
	free.Close()
	refusing, leading, page := connectProxy(t, "403 Forbidden"), connectProxy(t, "200 OK"), accepting(t, func(conn net.Conn) {
		_, _ = io.WriteString(conn, "220 mail.example ESMTP\r\n")
		conn.Close()
	})
	secret := nodeconfig.NewSecret(probeToken)
	for _, tt := range []struct {
		name    string
		attempt Attempt
		failed  Step
		status  int
		is      func(o *Outcome) bool
	}{
		{"an answer", Attempt{Authority: known.CertificateAuthority, Token: secret, Limit: 9}, "", 200, func(o *Outcome) bool {
			return string(o.Body) == "an answer" && o.Header.Get("X-Knows") == "yes" && len(o.Shown) == 1 && o.MTU > 1000 && o.Address.String() == at
		}},
		{"no token to a server that is not verified", Attempt{Unverified: true, Token: secret}, "", 200, func(o *Outcome) bool { return o.Header.Get("X-Knows") == "" }},
		{"only a connection", Attempt{Stop: Connected}, "", 0, nil},
		{"only a handshake", Attempt{Authority: known.CertificateAuthority, Stop: Secured}, "", 0, func(o *Outcome) bool { return len(o.Shown) == 1 }},
		{"a plain request to a server with TLS", Attempt{URL: "http://" + at + "/"}, "", 400, nil},
		{"known addresses", Attempt{URL: "https://name.invalid:" + at[strings.LastIndexByte(at, ':')+1:], ServerName: "example.com", Addresses: []netip.Addr{netip.MustParseAddr("127.0.0.1")}, Authority: known.CertificateAuthority}, "", 200, nil},
		{"another CA", Attempt{Authority: oldCA}, Secured, 0, func(o *Outcome) bool {
			var unknown x509.UnknownAuthorityError
			return errors.As(o.Err, &unknown) && len(o.Shown) == 1
		}},
		{"another name", Attempt{Authority: known.CertificateAuthority, ServerName: "other.example"}, Secured, 0, func(o *Outcome) bool {
			var name x509.HostnameError
			return errors.As(o.Err, &name)
		}},
		{"nothing listens", Attempt{URL: "https://" + nothing}, Connected, 0, func(o *Outcome) bool { return errors.Is(o.Err, syscall.ECONNREFUSED) }},
		{"a server that says nothing", Attempt{URL: "https://" + silent}, Secured, 0, func(o *Outcome) bool { return errors.Is(o.Err, context.DeadlineExceeded) }},
		{"a server that ends the connection", Attempt{URL: "https://" + ending}, Secured, 0, nil},
		{"a proxy that leads there", Attempt{Proxy: nodeconfig.NewSecret("http://u:p@" + leading), Authority: known.CertificateAuthority}, "", 200, nil},
		{"a proxy that refuses", Attempt{Proxy: nodeconfig.NewSecret("http://" + refusing)}, Tunneled, 403, nil},
		{"a server that is not a proxy", Attempt{Proxy: nodeconfig.NewSecret("http://" + page)}, Tunneled, 0, nil},
		{"a proxy that is not there", Attempt{Proxy: nodeconfig.NewSecret("http://" + nothing)}, Connected, 0, nil},
		{"a proxy's URL of another scheme", Attempt{Proxy: nodeconfig.NewSecret("socks5://u:hunter2@x")}, Resolved, 0, func(o *Outcome) bool { return !strings.Contains(o.Err.Error(), "hunter2") }},
		{"a URL of another scheme", Attempt{URL: "ftp://x"}, Resolved, 0, nil},
		{"a damaged credential", Attempt{Certificate: nodeconfig.NewSecret("x")}, Resolved, 0, nil},
		{"a token that cannot be sent", Attempt{Token: nodeconfig.NewSecret("a\nb")}, Resolved, 0, nil},
		{"a damaged CA", Attempt{Authority: "x"}, Resolved, 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := t.Context()
			if strings.Contains(tt.name, "says nothing") {
				ctx = over
			}
			if tt.attempt.URL == "" {
				tt.attempt.URL = server.URL + "/version"
			}
			o := Cluster{}.Attempt(ctx, &tt.attempt)
			if o.Failed != tt.failed || o.Status != tt.status || (o.Err == nil) != (tt.failed == "") || tt.is != nil && !tt.is(o) {
				t.Errorf("got %+v", o)
			}
		})
	}
}
