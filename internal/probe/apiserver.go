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

// prober asks an API server whether it is there.
type prober struct {
	resolver *net.Resolver
	// connect connects to the first of some addresses that answers. It returns the address that it tried last.
	connect func(ctx context.Context, addresses []netip.Addr, port string) (net.Conn, netip.AddrPort, error)
	// firstDelay is waited before the second attempt; each further delay is twice the one before,
	// up to maxDelay.
	firstDelay, maxDelay time.Duration
	// attemptTimeout bounds how long an attempt connects, and how long it waits for an answer, so that one lost packet does
	// not take all the time.
	attemptTimeout time.Duration
	// credentialPatience is how long a refused credential is tried again: a bootstrap token may be
	// a moment younger than the node.
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
	waiting // for what was asked for
)

// failure is why an attempt did not succeed.
type failure struct {
	apply.CheckError
	step  step
	retry bool // whether it may succeed later
}

// target is an API server as an attempt needs it.
type target struct {
	url        *url.URL // of what is asked for
	endpoint   string   // the server, for people
	host, port string
	roots      *x509.CertPool
	token      string

	// unverified says that the server's certificate is not looked at: what it says is proven otherwise.
	unverified bool
	// prepare, if any, is called before each attempt: what it reads may come to be there, or be another.
	prepare func(t *target) *failure
	// proxy, if any, is what leads to the server.
	proxy *proxy
	// certificate, if any, is shown to the server.
	certificate *tls.Certificate
	// maxBody is how much of an answer's body is read.
	maxBody int64
	// judge, if any, says what an answer means; by default its status does.
	judge func(t *target, a answer, address netip.AddrPort) *failure
	// talk, if any, is what is done with a connection; by default t.url is asked for, and the answer judged.
	talk func(ctx context.Context, conn *http.ClientConn, address netip.AddrPort) *failure
}

// answer is an API server's.
type answer struct {
	status int
	body   []byte
}

// probe tries until the API server answers, something is wrong that will not change, or ctx is done.
// Then it returns why the last attempt failed that was not merely cut short.
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

// repeat makes attempts until one succeeds, another would not, or pause, which waits between two, says that there are to be no more.
func (p *prober) repeat(ctx context.Context, attempt func(context.Context) *failure, pause func(context.Context, time.Duration) bool) error {
	var last *failure
	var refused time.Time // since when the credential is
	delay := p.firstDelay
	for attempts := 1; ; attempts++ {
		f := attempt(ctx)
		if f == nil {
			return nil
		}
		// An attempt that ran out of time knows less than one before that got as far.
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

// over reports whether ctx's time is over. What runs by the same deadline may notice before ctx does.
func over(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

// newTarget reads the target of a probe. What is wrong with it is wrong for good.
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
	// net/http would refuse such a header, in words that say nothing of the token.
	if strings.ContainsFunc(t.token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return invalid(resource.CauseCredential, "the token has characters that cannot be sent")
	}
	return t, nil
}

// addressed is a target whose server nobody is known to have signed, and that is sent no token.
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
		// In TLS 1.3 a client's certificate is refused when the handshake is over, as the client sees it.
		return t.failed(asking, resource.CauseCredential, address, fmt.Errorf("the server refuses the certificate: %w", err))
	case err != nil:
		return t.failed(asking, resource.CauseConnection, address, err)
	case t.judge != nil:
		return t.judge(t, a, address)
	}
	return t.judgeStatus(a.status, address)
}

// dial connects to the server, which has shown then that it is the one.
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
	transport := &http.Transport{
		// No proxy is configured: the kubelet does not use one for its API server either.
		DialTLSContext:         func(context.Context, string, string) (net.Conn, error) { return secure, nil },
		MaxResponseHeaderBytes: 64 << 10,
		Protocols:              new(http.Protocols),
	}
	transport.Protocols.SetHTTP1(true) // the only one that the handshake offers
	client, err := transport.NewClientConn(ctx, "https", net.JoinHostPort(t.host, t.port))
	if err != nil {
		secure.Close()
		return nil, address, t.failed(handshaking, resource.CauseConnection, address, err)
	}
	return client, address, nil
}

// reach connects to the server: to its own address, or through the proxy.
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

// handshake shows the server the node's certificate, if it has one, and wants the server's.
func (t *target) handshake(ctx context.Context, conn net.Conn, address netip.AddrPort) (*tls.Conn, *failure) {
	config := &tls.Config{
		RootCAs:    t.roots,
		ServerName: t.host,
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"},
		// No credential is sent over such a connection, and nothing that comes over it is believed without proof.
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

// cloudDNS is the DNS server of Azure's virtual networks (Azure: What is IP address 168.63.129.16). A network that has DNS
// servers of its own names these, and its owner has to look there.
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

// resolve returns a host's addresses; it may be one already.
func (p *prober) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if address, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{address}, nil
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
	deadline, _ := ctx.Deadline()
	for i, ip := range addresses {
		address = netip.AddrPortFrom(ip.Unmap(), uint16(number))
		// An address that swallows everything leaves its share of the time to the others.
		share := time.Until(deadline) / time.Duration(len(addresses)-i)
		dialer := net.Dialer{Timeout: max(share, time.Millisecond), KeepAlive: -1}
		if conn, err = dialer.DialContext(ctx, "tcp", address.String()); err == nil {
			return conn, address, nil
		}
	}
	return nil, address, err
}

// ask sends the request and returns the answer, and no more of its body than is of interest.
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

// send sends a request, with a body in JSON if there is one. No redirect is followed: another server's answer would say
// nothing about this one.
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

// judgeStatus says what a status means. "Forbidden" is as good as "OK": the server knows who asks. Without
// a token "unauthorized" is as well: then nothing was shown that could have been refused.
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

// mayPass reports whether a server that answers with a status may answer with another later.
func mayPass(status int) bool {
	return status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
}

// failed describes a failure, as one that may pass.
func (t *target) failed(step step, cause resource.Cause, address netip.AddrPort, err error) *failure {
	endpoint := t.endpoint
	if address.IsValid() {
		endpoint += " (" + address.String() + ")"
	}
	return &failure{apply.CheckError{Cause: cause, Endpoint: endpoint, Err: err}, step, true}
}

// retryIf has an attempt that failed be followed by another one, or not.
func (f *failure) retryIf(retry bool) *failure {
	f.retry = retry
	return f
}

// isConnectionError reports whether a handshake failed because the connection did: it says nothing
// then about who is at the other end. A refusal that the other end sends is not one.
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

// isRefusal reports whether the other end said by TLS that it wants no more (crypto/tls: "remote error").
func isRefusal(err error) bool {
	var remote *net.OpError
	return errors.As(err, &remote) && remote.Op == "remote error"
}

// isNotYetValid reports whether a certificate will be valid later. This is how a VM sees the world
// whose clock is not set yet.
func isNotYetValid(err error) bool {
	var invalid x509.CertificateInvalidError
	return errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil &&
		time.Now().Before(invalid.Cert.NotBefore)
}
