package probe

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/poll"
	"github.com/slipway-dev/slipway/internal/redact"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/tlsbootstrap"
)

const (
	// maxRequest limits a server's certificate signing request, which has a few kilobytes.
	maxRequest = 256 << 10
	// localName is the name of a host that has no name yet (hostname(5)).
	localName = "localhost"
	// certificateDelay is the pause before the second attempt, maxCertificateDelay the longest later one: the node
	// waits.
	certificateDelay, maxCertificateDelay = 50 * time.Millisecond, 500 * time.Millisecond
	// watchInterval is the least time between the beginnings of two watches, and watchSpread the most that is added to
	// it, so that nodes that lost their connection together do not return together (client-go tools/cache/reflector.go:
	// 800 ms and more, with jitter).
	watchInterval, watchSpread = time.Second, 500 * time.Millisecond
	// nameInterval is how often the host's name is read, with a system call.
	nameInterval = 50 * time.Millisecond
)

// certifier requests one certificate from an API server.
type certifier struct {
	*resource.Certificate
	p       *prober
	t       *target
	node    string
	key     *tlsbootstrap.Key
	request tlsbootstrap.Request
	// requests is the server's URL for requests.
	requests url.URL
	// host is the machine's name.
	host func() (string, error)
	// ready is closed when the kubelet waits for nothing else. hope is until when a server is tried after that.
	ready <-chan struct{}
	hope  time.Time
	// conn is the connection of the present attempt, to address.
	conn    *http.ClientConn
	address netip.AddrPort
	// taken reports whether the server has accepted the request, approved whether it is approved; issued is the
	// server's answer.
	taken, approved bool
	issued          tlsbootstrap.Answer
	// watched is when the server last answered a watch in any way, and refused why the last attempt got no result from
	// its watch.
	watched time.Time
	refused *failure
	// giveUp ends the request.
	giveUp func()
	pair   []byte
	steps  []apply.Step
}

// RequestCertificate requests the kubelet's certificate from an API server: it sends the request, and follows it by a
// watch, over the same connection. The key is only in memory. Once ready is closed, the kubelet waits for nothing else,
// and the table in certificatewait.go limits the server's time.
func (Cluster) RequestCertificate(ctx context.Context, wanted *resource.Certificate, ready <-chan struct{}) (*apply.Issued, error) {
	p := *defaultProber
	p.firstDelay, p.maxDelay = certificateDelay, maxCertificateDelay
	return p.certificate(ctx, wanted, ready, hostName)
}

func (p *prober) certificate(ctx context.Context, wanted *resource.Certificate, ready <-chan struct{}, host func() (string, error)) (*apply.Issued, error) {
	t, err := newTarget(&wanted.APIServer, "/version")
	if err != nil {
		return nil, err
	}
	fail := func(cause resource.Cause, err error) error {
		return &apply.CheckError{Cause: cause, Endpoint: t.endpoint, Err: err}
	}
	c := &certifier{Certificate: wanted, p: p, t: t, requests: *t.url, host: host, ready: ready}
	if c.name() != nil {
		if f := c.step(ctx, "host name", c.named); f != nil {
			return &apply.Issued{Steps: c.steps}, &f.CheckError
		}
	}
	if c.key, err = tlsbootstrap.NewKey(); err == nil {
		c.request, err = c.key.Request(c.node, c.Usages)
	}
	if err != nil {
		return nil, fail(resource.CauseMissing, fmt.Errorf("make a key and a request: %w", err))
	}
	c.requests.Path = strings.TrimSuffix(t.url.Path, "/version") + tlsbootstrap.RequestsPath
	ctx, c.giveUp = context.WithCancel(ctx)
	defer c.giveUp()
	err = p.repeat(ctx, c.attempt, c.pause)
	return &apply.Issued{Pair: c.pair, Node: c.node, Steps: c.steps}, err
}

// name reads the Node's name.
func (c *certifier) name() (err error) {
	if c.node, err = nameOr(c.Node, c.host); err == nil && c.node == localName {
		err = errors.New("the host has no name yet")
	}
	return err
}

// named waits for a name as long as the kubelet waits for anything else. The name may be the last of these, so named
// reads it once more after that.
func (c *certifier) named(ctx context.Context) *failure {
	for !isClosed(c.ready) && c.name() != nil && poll.Sleep(ctx, nameInterval) {
	}
	if err := c.name(); err != nil {
		return c.failed(resource.CauseMissing, err)
	}
	return nil
}

// attempt connects, sends the request, unless the server has it, waits for the outcome, and checks the certificate.
func (c *certifier) attempt(ctx context.Context) (f *failure) {
	asking, answered := context.WithCancel(ctx)
	defer answered()
	c.after(asking, answerPatience, answered)
	if f = c.step(asking, "certificate connection", c.connect); f != nil {
		return f
	}
	defer c.conn.Close()
	if !c.taken {
		if f = c.step(asking, "certificate request", c.send); f != nil {
			return f
		}
		c.taken = true
		c.heard()
		c.after(ctx, c.Patience.Std(), c.giveUp)
	}
	answered()
	if c.refused = c.step(ctx, "certificate approval", c.follow); c.refused != nil {
		return c.refused
	}
	return c.step(ctx, "certificate used", c.use)
}

// step times a part of the request. A repeated part continues from its first beginning.
func (c *certifier) step(ctx context.Context, name string, do func(context.Context) *failure) *failure {
	at := 0
	for at < len(c.steps) && c.steps[at].Name != name {
		at++
	}
	if at == len(c.steps) {
		c.steps = append(c.steps, apply.Step{Name: name, Start: time.Now()})
	}
	f := do(ctx)
	c.steps[at].Duration = time.Since(c.steps[at].Start)
	return f
}

// failed is a temporary failure, final a permanent one.
func (c *certifier) failed(cause resource.Cause, err error) *failure {
	return c.t.failed(asking, cause, c.address, err)
}

func (c *certifier) final(cause resource.Cause, format string, args ...any) *failure {
	return c.t.failed(waiting, cause, c.address, fmt.Errorf(format, args...)).retryIf(false)
}

func (c *certifier) connect(ctx context.Context) (f *failure) {
	c.conn, c.address, f = c.p.dial(ctx, c.t)
	return f
}

// send sends the request. If the server already has it, an earlier attempt lost the answer: the name proves that it is
// for the same key.
func (c *certifier) send(ctx context.Context) *failure {
	ctx, cancel := context.WithTimeout(ctx, c.p.attemptTimeout)
	defer cancel()
	response, err := c.t.send(ctx, c.conn, http.MethodPost, &c.requests, c.request.Body)
	if err != nil {
		return c.failed(resource.CauseConnection, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxRequest))
	switch status := response.StatusCode; {
	case err != nil:
		return c.failed(resource.CauseConnection, err)
	case status == http.StatusCreated, status == http.StatusConflict:
		return nil
	default:
		return c.judge(status, "ask for a certificate: "+message(body))
	}
}

// judge evaluates an unexpected status. asked is the request that the token may not make.
func (c *certifier) judge(status int, asked string) *failure {
	if status == http.StatusForbidden {
		if c.hope.IsZero() {
			c.heard() // a server that has just started may not know the token's permission yet
		}
		return c.failed(resource.CauseForbidden, errors.New("the token may not "+asked))
	}
	f := c.t.judgeStatus(status, c.address)
	if f == nil {
		return c.final(resource.CauseConnection, "the server answers with HTTP status %d", status)
	}
	if f.Cause == resource.CauseCredential {
		c.hope = time.Time{} // the token is not valid any more, so the server does not show the request that it has accepted
	}
	return f
}

// follow waits by a watch until the request is issued or denied (Kubernetes: API concepts, efficient detection of
// changes). If the server ends the watch in any way, follow begins another one, but not more often than watchInterval.
func (c *certifier) follow(ctx context.Context) *failure {
	for {
		if !c.hopefully(ctx, c.untilNextWatch(), c.p.sleep) && ctx.Err() == nil && c.refused != nil {
			return c.refused
		}
		status, err := c.watch(ctx)
		a := &c.issued
		switch {
		case ctx.Err() != nil && c.approved:
			return c.final(resource.CauseSigner, "%s is approved, but not signed", c.request.Name)
		case ctx.Err() != nil:
			return c.final(resource.CauseUnapproved, "%s is not approved", c.request.Name)
		case errors.Is(err, errRemoved):
			return c.final(resource.CauseUnapproved, "%s %w", c.request.Name, err)
		case err != nil:
			return c.failed(resource.CauseConnection, err)
		case status != http.StatusOK:
			return c.judge(status, "watch its request for a certificate")
		case a.Refused != "":
			cause := resource.CauseDenied
			if a.Failed {
				cause = resource.CauseSigner
			}
			return c.final(cause, "%s %s", c.request.Name, redact.Line(a.Refused, maxShownAnswer))
		case len(a.Certificate) > 0:
			return nil
		}
	}
}

// untilNextWatch is how long no other watch may begin; a value that is not positive means none. The spread follows the
// request's name, which is different on each node because the key is.
func (c *certifier) untilNextWatch() time.Duration {
	if c.watched.IsZero() {
		return 0
	}
	sum := sha256.Sum256([]byte(c.request.Name))
	return time.Until(c.watched.Add(watchInterval + watchSpread*time.Duration(sum[0])/256))
}

// errRemoved is why a request stays without result.
var errRemoved = errors.New("was removed before anybody approved it")

// watch reads the request's state until there is an answer. The answer is empty if the watch has ended without one.
func (c *certifier) watch(ctx context.Context) (status int, err error) {
	c.issued = tlsbootstrap.Answer{}
	ctx, cancel := context.WithTimeout(ctx, watchSpan+answerPatience) // a dead connection sends nothing
	defer cancel()
	asking, answered := context.WithCancel(ctx)
	defer answered()
	c.after(asking, answerPatience, cancel)
	u := c.requests
	u.RawQuery = url.Values{
		"fieldSelector":  {"metadata.name=" + c.request.Name},
		"timeoutSeconds": {fmt.Sprint(int(watchSpan.Seconds()))},
		"watch":          {"true"},
	}.Encode()
	response, err := c.t.send(ctx, c.conn, http.MethodGet, &u, nil)
	if err != nil {
		return 0, err
	}
	answered()
	c.watched = time.Now()
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxRequest)) // so that the connection can be reused
		return response.StatusCode, nil
	}
	defer c.heard()
	bounded := &io.LimitedReader{R: response.Body}
	events := json.NewDecoder(bounded)
	for {
		bounded.N = maxRequest
		var event struct {
			Type   string
			Object json.RawMessage
		}
		err := events.Decode(&event)
		switch {
		case errors.Is(err, io.EOF) && bounded.N > 0:
			return http.StatusOK, nil
		case err != nil:
			return 0, fmt.Errorf("the report on %s broke off: %w", c.request.Name, err)
		case event.Type == "ERROR":
			return 0, fmt.Errorf("the server does not report on %s: %s", c.request.Name, message(event.Object))
		case event.Type == "DELETED":
			return 0, errRemoved
		}
		a, err := tlsbootstrap.Read(event.Object)
		if err != nil {
			return 0, err
		}
		c.approved = c.approved || a.Approved
		if a.Name == c.request.Name && (a.Refused != "" || len(a.Certificate) > 0) {
			c.issued = a
			return http.StatusOK, nil
		}
	}
}

// use presents the issued certificate to the server. The kubelet would continue with a refused certificate, and would
// not request another one.
func (c *certifier) use(ctx context.Context) *failure {
	pair, err := c.key.Pair(c.issued.Certificate, c.node, time.Now())
	if err != nil {
		return c.final(resource.CauseUnusable, "what was issued for %s cannot be used: %w", c.request.Name, err)
	}
	own, err := tls.X509KeyPair(pair, pair)
	if err != nil {
		return c.final(resource.CauseUnusable, "what was issued for %s cannot be read: %w", c.request.Name, err)
	}
	ctx, answered := context.WithCancel(ctx)
	defer answered()
	c.after(ctx, answerPatience, answered)
	shown := &target{url: c.t.url, endpoint: c.t.endpoint, host: c.t.host, port: c.t.port, roots: c.t.roots, certificate: &own}
	shown.judge = func(t *target, a answer, address netip.AddrPort) *failure {
		if a.status == http.StatusUnauthorized {
			return t.failed(asking, resource.CauseCredential, address, errors.New("the server refuses the certificate that it has issued (HTTP status 401)"))
		}
		return nil
	}
	if f := c.p.attempt(ctx, shown); f != nil && f.Cause == resource.CauseCredential {
		return c.final(resource.CauseUnusable, "%w", f.Err)
	}
	c.pair = pair // also if it cannot be presented just now
	return nil
}

// message is the message of an API server's error answer (Kubernetes: API conventions, Status).
func message(body []byte) string {
	var status struct{ Message string }
	if err := json.Unmarshal(body, &status); err != nil || status.Message == "" {
		return "it does not say why"
	}
	return redact.Line(status.Message, maxShownAnswer)
}

// isClosed reports whether a channel that carries no values is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
