package probe

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// Attempt is one attempt to get an answer from a server. Nothing is repeated.
type Attempt struct {
	// URL is the server with a path: https or http.
	URL string
	// Method is GET if empty. Body is JSON; it may be nil.
	Method string
	Body   []byte
	// Addresses are the server's addresses. If nil, the machine resolves the name.
	Addresses []netip.Addr
	// Authority are the server's CA certificates in PEM. If empty, the machine's trusted ones are used. ServerName is the
	// name in the server's certificate, if it is not the host.
	Authority, ServerName string
	// Unverified disables the check of the server's certificate. Then no credential is sent.
	Unverified bool
	// Token, or Certificate with Key in PEM, is the credential.
	Token, Certificate, Key nodeconfig.Secret
	// Proxy is the URL of an HTTP proxy. It may be empty.
	Proxy nodeconfig.Secret
	// Stop is the step after which nothing more is done. If empty, the answer is read.
	Stop Step
	// Limit is how many bytes of the answer's body are kept.
	Limit int64
}

// Step is a step of an attempt.
type Step string

// The steps, in their order. Resolved is the proxy's name if there is a proxy.
const (
	Resolved  Step = "resolved"
	Connected Step = "connected"
	Tunneled  Step = "tunneled" // the proxy has connected to the server
	Secured   Step = "secured"  // the TLS handshake is complete
	Answered  Step = "answered"
)

// Outcome is how far an attempt came.
type Outcome struct {
	// Failed is the step that failed, or empty. Err is the reason.
	Failed Step
	Err    error
	// Address is the last address that was tried: the proxy's if there is a proxy.
	Address netip.AddrPort
	// MTU is the largest packet on the path to it that the kernel knows, or 0.
	MTU int
	// Shown are the certificates that the server presented.
	Shown []*x509.Certificate
	// Status, Header and Body are the answer's. If the step Tunneled failed, Status is the proxy's, or 0.
	Status int
	Header http.Header
	Body   []byte
}

// Attempt makes an attempt, until ctx is done.
func (Cluster) Attempt(ctx context.Context, a *Attempt) *Outcome { return defaultProber.once(ctx, a) }

// once makes one attempt.
func (p *prober) once(ctx context.Context, a *Attempt) *Outcome {
	t, err := a.target()
	if err != nil {
		return &Outcome{Failed: Resolved, Err: err}
	}
	if a.Addresses != nil {
		known := *p
		known.known = map[string][]netip.Addr{t.host: a.Addresses}
		p = &known
	}
	conn, address, f := p.reach(ctx, t)
	o := &Outcome{Address: address}
	if f != nil {
		return o.failed(f)
	}
	defer func() { conn.Close() }()
	o.MTU = pathMTU(conn)
	if a.Stop == Connected || a.Stop == Tunneled {
		return o
	}
	if t.url.Scheme == "https" {
		secure, f := t.handshake(ctx, conn, address)
		if f != nil {
			o.MTU = pathMTU(conn) // a router may have reported a smaller one meanwhile
			return o.failed(f)
		}
		conn, o.Shown = secure, secure.ConnectionState().PeerCertificates
		if a.Stop == Secured {
			return o
		}
	}
	if err := o.ask(ctx, t, a, conn); err != nil {
		o.Failed, o.Err = Answered, err
	}
	return o
}

// target is the attempt as a prober makes it.
func (a *Attempt) target() (*target, error) {
	u, err := url.Parse(a.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil {
		return nil, errors.New("is not the URL of a server")
	}
	t := &target{url: u, host: u.Hostname(), port: u.Port(), serverName: a.ServerName, unverified: a.Unverified}
	if t.port == "" {
		t.port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	t.endpoint = u.Scheme + "://" + net.JoinHostPort(t.host, t.port)
	if a.Authority != "" {
		t.roots = x509.NewCertPool()
		if !t.roots.AppendCertsFromPEM([]byte(a.Authority)) {
			return nil, errors.New("the certificate authority holds no certificate")
		}
	}
	if text := a.Proxy.Reveal(); text != "" {
		at, err := url.Parse(text)
		if err != nil || !isProxy(at) {
			return nil, errors.New("the proxy's URL is not that of an HTTP proxy") // the URL may have a password
		}
		t.proxy = newProxy(at)
	}
	if a.Unverified || u.Scheme != "https" {
		return t, nil
	}
	if t.token = a.Token.Reveal(); strings.ContainsFunc(t.token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, errors.New("the token has characters that cannot be sent")
	}
	if !a.Certificate.IsZero() {
		pair, err := tls.X509KeyPair([]byte(a.Certificate.Reveal()), []byte(a.Key.Reveal()))
		if err != nil {
			return nil, fmt.Errorf("the client certificate cannot be used: %w", err)
		}
		t.certificate = &pair
	}
	return t, nil
}

// failed takes over a failure.
func (o *Outcome) failed(f *failure) *Outcome {
	o.Failed, o.Err = map[step]Step{resolving: Resolved, connecting: Connected, handshaking: Secured}[f.step], f.Err
	var proxy *notLed
	if errors.As(f.Err, &proxy) {
		o.Failed, o.Status = Tunneled, proxy.status
	} else if errors.Is(f.Err, errNoTunnel) {
		o.Failed = Tunneled
	}
	if refused, ok := errors.AsType[*tls.CertificateVerificationError](f.Err); ok {
		o.Shown = refused.UnverifiedCertificates
	}
	return o
}

// ask sends the request, and reads the answer.
func (o *Outcome) ask(ctx context.Context, t *target, a *Attempt, conn net.Conn) error {
	client, err := t.client(ctx, t.url.Scheme, conn)
	if err != nil {
		return err
	}
	defer client.Close()
	response, err := t.send(ctx, client, cmp.Or(a.Method, http.MethodGet), t.url, a.Body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	o.Status, o.Header = response.StatusCode, response.Header
	if a.Limit > 0 {
		if o.Body, err = io.ReadAll(io.LimitReader(response.Body, a.Limit)); err != nil {
			return fmt.Errorf("the answer is incomplete: %w", err)
		}
	}
	return nil
}

// pathMTU is what the kernel knows of the path to a connection's other side, or 0 (ip(7), IP_MTU; ipv6(7), IPV6_MTU).
func pathMTU(conn net.Conn) (mtu int) {
	tcp, ok := conn.(syscall.Conn)
	if !ok {
		return 0
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if mtu, err = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_IP, syscall.IP_MTU); err != nil {
			mtu, _ = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_IPV6, syscall.IPV6_MTU)
		}
	})
	return mtu
}
