package probe

import (
	"bytes"
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
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/poll"
	"github.com/slipway-dev/slipway/internal/resource"
)

// prober checks whether an API server answers.
type prober struct {
	resolver *net.Resolver
	// known are addresses of hosts that are not resolved. It may be nil.
	known map[string][]netip.Addr
	// connect connects to the first address that answers. It returns the address that it tried last.
	connect func(ctx context.Context, addresses []netip.Addr, port string) (net.Conn, netip.AddrPort, error)
	// firstDelay is the pause before the second attempt. Each further pause is twice as long, up to maxDelay.
	firstDelay, maxDelay time.Duration
	// attemptTimeout limits an attempt's connection, and its wait for an answer, so that one lost packet does not use
	// up all the time.
	attemptTimeout time.Duration
	// credentialPatience is how long a refused credential is tried again: a bootstrap token may be created a moment
	// after the node.
	credentialPatience time.Duration
	// sleep waits between two watches over one connection, and reports whether ctx was not done before.
	sleep func(ctx context.Context, d time.Duration) bool
	now   func() time.Time
}

var defaultProber = &prober{
	resolver:           net.DefaultResolver,
	connect:            connect,
	firstDelay:         200 * time.Millisecond,
	maxDelay:           3 * time.Second,
	attemptTimeout:     15 * time.Second,
	credentialPatience: 10 * time.Second,
	sleep:              poll.Sleep,
	now:                time.Now,
}

// step is how far an attempt got.
type step int

const (
	resolving step = iota
	connecting
	handshaking
	asking
	waiting // for the requested result
)

// failure is why an attempt failed.
type failure struct {
	apply.CheckError
	step  step
	retry bool // whether it may succeed later
}

// target is an API server as an attempt uses it.
type target struct {
	url        *url.URL // the requested URL
	endpoint   string   // the server, for people
	host, port string
	roots      *x509.CertPool
	token      string

	// serverName is the name in the server's certificate, if it is not host.
	serverName string
	// unverified disables the check of the server's certificate: the answer is verified by other means.
	unverified bool
	// prepare, if any, is called before each attempt: the files that it reads may appear or change.
	prepare func(t *target) *failure
	// proxy, if any, is the proxy to the server.
	proxy *proxy
	// certificate, if any, is the client certificate.
	certificate *tls.Certificate
	// maxBody is how much of an answer's body is read.
	maxBody int64
	// judge, if any, evaluates an answer. By default the status decides.
	judge func(t *target, a answer, address netip.AddrPort) *failure
	// talk, if any, uses a connection. By default the attempt requests t.url and judges the answer.
	talk func(ctx context.Context, conn *http.ClientConn, address netip.AddrPort) *failure
}

// answer is an API server's.
type answer struct {
	status int
	body   []byte
}

// probe tries until the API server answers, a permanent problem is found, or ctx is done. It returns the failure of the
// last attempt that did not simply run out of time.
func (p *prober) probe(ctx context.Context, server *resource.APIServer) error {
	t, err := newTarget(server, "/version")
	if err != nil {
		return err
	}
	return p.try(ctx, t)
}

func (p *prober) try(ctx context.Context, t *target) error {
	return p.repeat(ctx, func(ctx context.Context) *failure { return p.attempt(ctx, t) }, poll.Sleep)
}

// repeat makes attempts until one succeeds, another one cannot succeed, or pause, which waits in between, returns
// false.
func (p *prober) repeat(ctx context.Context, attempt func(context.Context) *failure, pause func(context.Context, time.Duration) bool) error {
	var last *failure
	var refused time.Time // since when the credential is refused
	delay := p.firstDelay
	for attempts := 1; ; attempts++ {
		f := attempt(ctx)
		if f == nil {
			return nil
		}
		// An attempt that ran out of time has less information than an earlier one that got as far.
		if !over(ctx) || last == nil || f.step > last.step {
			last = f
		}
		if f.Cause == resource.CauseCredential || f.Cause == resource.CauseUnsigned {
			if refused.IsZero() {
				refused = time.Now()
			}
			f.retry = f.retry && time.Since(refused) < p.credentialPatience
		}
		if !f.retry || !pause(ctx, delay) {
			if attempts > 1 {
				last.Err = fmt.Errorf("%w (attempt %d)", last.Err, attempts)
			}
			return &last.CheckError
		}
		delay = min(2*delay, p.maxDelay)
	}
}

// over reports whether ctx's time is over. Another timer with the same deadline may fire before ctx does.
func over(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

// newTarget parses the target of a probe. A problem with it is permanent.
func newTarget(server *resource.APIServer, path string) (*target, error) {
	t, err := addressed(server.Server, path)
	if err != nil {
		return nil, err
	}
	invalid := func(cause resource.Cause, text string) (*target, error) {
		return nil, &apply.CheckError{Cause: cause, Endpoint: server.Server, Err: errors.New(text)}
	}
	t.token = server.Token.Reveal()
	if t.roots = x509.NewCertPool(); !t.roots.AppendCertsFromPEM([]byte(server.CertificateAuthority)) {
		return invalid(resource.CauseTLS, "the certificate authority holds no certificate")
	}
	// net/http would refuse such a header with an error that does not mention the token.
	if strings.ContainsFunc(t.token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return invalid(resource.CauseCredential, "the token has characters that cannot be sent")
	}
	return t, nil
}

// addressed is a target whose server has no known CA, and that gets no token.
func addressed(server, path string) (*target, error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return nil, &apply.CheckError{Cause: resource.CauseConnection, Endpoint: server, Err: errors.New("is not the https URL of a server")}
	}
	t := &target{host: u.Hostname(), port: cmp.Or(u.Port(), "443")}
	t.endpoint = "https://" + net.JoinHostPort(t.host, t.port)
	t.url = &url.URL{Scheme: "https", Host: u.Host, Path: strings.TrimRight(u.Path, "/") + path}
	return t, nil
}

// attempt tries once, from the name to the answer.
func (p *prober) attempt(ctx context.Context, t *target) *failure {
	if t.prepare != nil {
		if f := t.prepare(t); f != nil {
			return f
		}
	}
	conn, address, f := p.dial(ctx, t)
	if f != nil {
		return f
	}
	defer conn.Close()
	if t.talk != nil {
		return t.talk(ctx, conn, address)
	}
	ctx, cancel := context.WithTimeout(ctx, p.attemptTimeout)
	defer cancel()
	a, err := t.ask(ctx, conn)
	switch {
	case err != nil && t.certificate != nil && isRefusal(err):
		// In TLS 1.3 the client sees the refusal of its certificate only after the handshake.
		return t.failed(asking, resource.CauseCredential, address, fmt.Errorf("the server refuses the certificate: %w", err))
	case err != nil:
		return t.failed(asking, resource.CauseConnection, address, err)
	case t.judge != nil:
		return t.judge(t, a, address)
	}
	return t.judgeStatus(a.status, address)
}

// dial connects to the server and verifies it.
func (p *prober) dial(ctx context.Context, t *target) (*http.ClientConn, netip.AddrPort, *failure) {
	ctx, cancel := context.WithTimeout(ctx, p.attemptTimeout)
	defer cancel()
	conn, address, f := p.reach(ctx, t)
	if f != nil {
		return nil, address, f
	}
	secure, f := t.handshake(ctx, conn, address)
	if f != nil {
		conn.Close()
		return nil, address, f
	}
	client, err := t.client(ctx, "https", secure)
	if err != nil {
		secure.Close()
		return nil, address, t.failed(handshaking, resource.CauseConnection, address, err)
	}
	return client, address, nil
}

// client sends requests over a connection to the server, which is secure if the scheme is https.
func (t *target) client(ctx context.Context, scheme string, conn net.Conn) (*http.ClientConn, error) {
	dial := func(context.Context, string, string) (net.Conn, error) { return conn, nil }
	// No proxy is configured: the kubelet does not use one for its API server either.
	transport := &http.Transport{DialContext: dial, DialTLSContext: dial, MaxResponseHeaderBytes: 64 << 10, Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP1(true) // the handshake offers only this one
	return transport.NewClientConn(ctx, scheme, net.JoinHostPort(t.host, t.port))
}

// reach connects to the server: directly, or through the proxy.
func (p *prober) reach(ctx context.Context, t *target) (net.Conn, netip.AddrPort, *failure) {
	if t.proxy != nil {
		return p.tunnel(ctx, t)
	}
	addresses, err := p.resolve(ctx, t.host)
	if err != nil {
		return nil, netip.AddrPort{}, t.failed(resolving, unresolved(err), netip.AddrPort{}, err)
	}
	conn, address, err := p.connect(ctx, addresses, t.port)
	if err != nil {
		return nil, address, t.failed(connecting, resource.CauseConnection, address, err)
	}
	return conn, address, nil
}

// handshake presents the node's certificate, if it has one, and verifies the server's.
func (t *target) handshake(ctx context.Context, conn net.Conn, address netip.AddrPort) (*tls.Conn, *failure) {
	config := &tls.Config{
		RootCAs:    t.roots,
		ServerName: cmp.Or(t.serverName, t.host),
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"},
		// Such a connection carries no credential, and its data counts only after verification.
		InsecureSkipVerify: t.unverified,
	}
	if t.certificate != nil {
		config.Certificates = []tls.Certificate{*t.certificate}
	}
	secure := tls.Client(conn, config)
	err := secure.HandshakeContext(ctx)
	switch {
	case err == nil:
		return secure, nil
	case isConnectionError(err):
		return nil, t.failed(handshaking, resource.CauseConnection, address, fmt.Errorf("tls handshake: %w", err))
	}
	return nil, t.failed(handshaking, resource.CauseTLS, address, err).retryIf(isNotYetValid(err))
}

// cloudDNS is the DNS server of Azure's virtual networks (Azure: What is IP address 168.63.129.16). A network with
// custom DNS servers lists those, and its owner must check them.
const cloudDNS = "168.63.129.16"

// unresolved is why a name does not resolve.
func unresolved(err error) resource.Cause {
	if failed, ok := errors.AsType[*net.DNSError](err); ok {
		if server, _, err := net.SplitHostPort(failed.Server); err == nil && server == cloudDNS {
			return resource.CauseCloudDNS
		}
	}
	return resource.CauseDNS
}

// resolve returns a host's addresses. The host may be an address.
func (p *prober) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if address, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{address}, nil
	}
	if addresses, isKnown := p.known[host]; isKnown {
		return addresses, nil
	}
	addresses, err := p.resolver.LookupNetIP(ctx, "ip", host)
	if err == nil && len(addresses) == 0 {
		err = errors.New("the name has no address")
	}
	return addresses, err
}

// connect is how a prober connects by default.
func connect(ctx context.Context, addresses []netip.Addr, port string) (conn net.Conn, address netip.AddrPort, err error) {
	number, err := net.LookupPort("tcp", port)
	if err != nil {
		return nil, address, err
	}
	deadline, isLimited := ctx.Deadline()
	for i, ip := range addresses {
		address = netip.AddrPortFrom(ip.Unmap(), uint16(number))
		dialer := net.Dialer{KeepAlive: -1}
		if isLimited { // an address that drops all packets leaves a share of the time for the others
			dialer.Timeout = max(time.Until(deadline)/time.Duration(len(addresses)-i), time.Millisecond)
		}
		if conn, err = dialer.DialContext(ctx, "tcp", address.String()); err == nil {
			return conn, address, nil
		}
	}
	return nil, address, err
}

// ask sends the request and returns the answer, with the first part of its body.
func (t *target) ask(ctx context.Context, conn *http.ClientConn) (answer, error) {
	response, err := t.send(ctx, conn, http.MethodGet, t.url, nil)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	a := answer{status: response.StatusCode}
	if t.maxBody > 0 {
		if a.body, err = io.ReadAll(io.LimitReader(response.Body, t.maxBody)); err != nil {
			return answer{}, fmt.Errorf("the answer to GET %s is incomplete: %w", t.url.Path, err)
		}
	}
	return a, nil
}

// send sends a request, with a body in JSON if there is one. It follows no redirect, because another server's answer
// would not be about this server.
func (t *target) send(ctx context.Context, conn *http.ClientConn, method string, u *url.URL, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "slipway-node")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
		if method == http.MethodPatch {
			request.Header.Set("Content-Type", "application/merge-patch+json") // RFC 7396
		}
	}
	if t.token != "" {
		request.Header.Set("Authorization", "Bearer "+t.token)
	}
	response, err := conn.RoundTrip(request)
	if err != nil {
		return nil, fmt.Errorf("no answer to %s %s: %w", method, u.Path, err)
	}
	return response, nil
}

// judgeStatus evaluates a status. "Forbidden" is as good as "OK": the server has accepted the credential. Without a
// token, "unauthorized" is good, too: no credential was refused.
func (t *target) judgeStatus(status int, address netip.AddrPort) *failure {
	switch {
	case status == http.StatusOK, status == http.StatusForbidden:
		return nil
	case status == http.StatusUnauthorized && t.token == "":
		return nil
	case status == http.StatusUnauthorized:
		return t.failed(asking, resource.CauseCredential, address, errors.New("the server refuses the token (HTTP status 401)"))
	}
	return t.failed(asking, resource.CauseConnection, address, fmt.Errorf("the server answers with HTTP status %d", status)).retryIf(mayPass(status))
}

// mayPass reports whether a server that answers with this status may later answer with another one.
func mayPass(status int) bool {
	return status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
}

// failed describes a failure that may be temporary.
func (t *target) failed(step step, cause resource.Cause, address netip.AddrPort, err error) *failure {
	endpoint := t.endpoint
	if address.IsValid() {
		endpoint += " (" + address.String() + ")"
	}
	return &failure{apply.CheckError{Cause: cause, Endpoint: endpoint, Err: err}, step, true}
}

// retryIf sets whether another attempt follows a failed one.
func (f *failure) retryIf(retry bool) *failure {
	f.retry = retry
	return f
}

// isConnectionError reports whether a handshake failed because the connection did: then the failure is not about the
// server's identity. A TLS alert of the server does not count.
func isConnectionError(err error) bool {
	var alert tls.AlertError
	var errno syscall.Errno
	var timeout net.Error
	switch {
	case errors.As(err, &alert):
		return false
	case errors.Is(err, net.ErrClosed), errors.Is(err, context.Canceled), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return true
	}
	return errors.As(err, &errno) || errors.As(err, &timeout) && timeout.Timeout()
}

// isRefusal reports whether the other side ended the handshake with a TLS alert (crypto/tls: "remote error").
func isRefusal(err error) bool {
	var remote *net.OpError
	return errors.As(err, &remote) && remote.Op == "remote error"
}

// isNotYetValid reports whether a certificate will become valid later. A VM sees that before its clock is set.
func isNotYetValid(err error) bool {
	var invalid x509.CertificateInvalidError
	return errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil &&
		time.Now().Before(invalid.Cert.NotBefore)
}
