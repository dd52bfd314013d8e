package probe

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/redact"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/tlsbootstrap"
)

const (
	// maxRequest bounds a certificate signing request as a server has it, which has a few kilobytes.
	maxRequest = 256 << 10
	// localName is a host's that has none yet (hostname(5)).
	localName = "localhost"
	// certificateDelay is waited before the second attempt, maxCertificateDelay at most before a later one: the node waits.
	certificateDelay, maxCertificateDelay = 50 * time.Millisecond, 500 * time.Millisecond
)

// certifier asks an API server for one certificate.
type certifier struct {
	*resource.Certificate
	p       *prober
	t       *target
	node    string
	key     *tlsbootstrap.Key
	request tlsbootstrap.Request
	// requests is where the server takes requests.
	requests url.URL
	// ready is closed when all else is there that the kubelet waits for, hope is until when a server is asked again all the same.
	ready <-chan struct{}
	hope  time.Time
	// taken says that the server has the request, approved that somebody has approved it.
	taken, approved bool
	// giveUp ends the request.
	giveUp func()
	pair   []byte
	steps  []apply.Step
}

// RequestCertificate asks an API server for the kubelet's certificate: it sends the request, and follows it by a watch, over
// the connection that it has made. The key is in memory alone. Once ready is closed, the kubelet waits for nothing else, and the
// server has as long as the table of patience.go says.
func RequestCertificate(ctx context.Context, wanted *resource.Certificate, ready <-chan struct{}) (*apply.Issued, error) {
	p := *defaultProber
	p.firstDelay, p.maxDelay = certificateDelay, maxCertificateDelay
	return p.certificate(ctx, wanted, ready, NodeName)
}

func (p *prober) certificate(ctx context.Context, wanted *resource.Certificate, ready <-chan struct{}, host func() (string, error)) (*apply.Issued, error) {
	t, err := newTarget(&wanted.APIServer)
	if err != nil {
		return nil, err
	}
	fail := func(cause resource.Cause, err error) error {
		return &apply.CheckError{Cause: cause, Endpoint: t.endpoint, Err: err}
	}
	c := &certifier{Certificate: wanted, p: p, t: t, ready: ready}
	if c.node, err = nameOr(wanted.Node, host); err == nil && c.node == localName {
		err = errors.New("the host has no name yet")
	}
	if err != nil {
		return nil, fail(resource.CauseMissing, err)
	}
	if c.key, err = tlsbootstrap.NewKey(); err == nil {
		c.request, err = c.key.Request(c.node, c.Usages)
	}
	if err != nil {
		return nil, fail(resource.CauseMissing, fmt.Errorf("make a key and a request: %w", err))
	}
	c.requests = *t.url
	c.requests.Path = strings.TrimSuffix(t.url.Path, "/version") + tlsbootstrap.RequestsPath
	ctx, c.giveUp = context.WithCancel(ctx)
	defer c.giveUp()
	if err := p.repeat(ctx, c.attempt, c.pause); err != nil {
		return &apply.Issued{Steps: c.steps}, err
	}
	return &apply.Issued{Pair: c.pair, Node: c.node, Steps: c.steps}, nil
}

// attempt connects, sends the request, unless the server has it, and waits for what becomes of it.
func (c *certifier) attempt(ctx context.Context) *failure {
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	paid := c.owed(cancel)
	defer paid()
	var conn *http.ClientConn
	var address netip.AddrPort
	f := c.step("certificate connection", func() (f *failure) {
		conn, address, f = c.p.dial(asking, c.t)
		return f
	})
	if f != nil {
		return f
	}
	defer conn.Close()
	if !c.taken {
		if f := c.step("certificate request", func() *failure { return c.send(asking, conn, address) }); f != nil {
			return f
		}
		c.taken = true
		c.heard()
		go c.limit(ctx, c.giveUp)
	}
	paid()
	return c.talk(ctx, conn, address)
}

// talk waits for what becomes of the request, and takes it.
func (c *certifier) talk(ctx context.Context, conn *http.ClientConn, address netip.AddrPort) *failure {
	var issued tlsbootstrap.Answer
	f := c.step("certificate approval", func() (f *failure) {
		issued, f = c.follow(ctx, conn, address)
		return f
	})
	if f != nil {
		return f
	}
	pair, err := c.key.Pair(issued.Certificate, c.node, time.Now())
	if err != nil {
		return c.refused(resource.CauseUnusable, address, fmt.Errorf("what was issued for %s cannot be used: %w", c.request.Name, err))
	}
	c.pair = pair
	if f := c.step("certificate used", func() *failure { return c.use(ctx) }); f != nil {
		return c.refused(resource.CauseUnusable, address, f.Err)
	}
	return nil
}

// refused is a failure that another attempt would not change.
func (c *certifier) refused(cause resource.Cause, address netip.AddrPort, err error) *failure {
	f := c.t.failed(waiting, cause, address, err)
	f.retry = false
	return f
}

// use shows the certificate to the server that has issued it. The kubelet would go on with one that is refused, and would
// not ask again.
func (c *certifier) use(ctx context.Context) *failure {
	own, err := tls.X509KeyPair(c.pair, c.pair)
	if err != nil {
		return c.t.failed(waiting, resource.CauseUnusable, netip.AddrPort{}, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer c.owed(cancel)()
	shown := &target{url: c.t.url, endpoint: c.t.endpoint, host: c.t.host, port: c.t.port, roots: c.t.roots, certificate: &own}
	shown.judge = func(t *target, a answer, address netip.AddrPort) *failure {
		if a.status == http.StatusUnauthorized {
			return t.failed(asking, resource.CauseCredential, address, errors.New("the server refuses the certificate that it has issued (HTTP status 401)"))
		}
		return nil
	}
	if f := c.p.attempt(ctx, shown); f != nil && f.Cause == resource.CauseCredential {
		return f
	}
	return nil // or it cannot be asked just now
}

// step times a part of the way. One that is gone again goes on from its first beginning.
func (c *certifier) step(name string, do func() *failure) *failure {
	at := slices.IndexFunc(c.steps, func(s apply.Step) bool { return s.Name == name })
	if at < 0 {
		at = len(c.steps)
		c.steps = append(c.steps, apply.Step{Name: name, Start: time.Now()})
	}
	f := do()
	c.steps[at].Duration = time.Since(c.steps[at].Start)
	return f
}

// send sends the request. One that the server has already came with an attempt whose answer was lost: the name says
// that it is for the same key.
func (c *certifier) send(ctx context.Context, conn *http.ClientConn, address netip.AddrPort) *failure {
	ctx, cancel := context.WithTimeout(ctx, c.p.attemptTimeout)
	defer cancel()
	response, err := c.t.send(ctx, conn, http.MethodPost, &c.requests, c.request.Body)
	if err != nil {
		return c.t.failed(asking, resource.CauseConnection, address, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxRequest))
	switch status := response.StatusCode; {
	case err != nil:
		return c.t.failed(asking, resource.CauseConnection, address, err)
	case status == http.StatusCreated, status == http.StatusConflict:
		return nil
	case status == http.StatusForbidden:
		return c.forbidden(address, fmt.Errorf("the token may not ask for a certificate: %s", message(body)))
	default:
		return c.judge(status, address)
	}
}

// forbidden is what the token may not do. A server that has just started may not know yet that it may.
func (c *certifier) forbidden(address netip.AddrPort, err error) *failure {
	if c.hope.IsZero() {
		c.heard()
	}
	return c.t.failed(asking, resource.CauseForbidden, address, err)
}

// judge says what a status means that is not the one wanted.
func (c *certifier) judge(status int, address netip.AddrPort) *failure {
	f := c.t.judgeStatus(status, address)
	switch {
	case f == nil:
		f = c.t.failed(asking, resource.CauseConnection, address, fmt.Errorf("the server answers with HTTP status %d", status))
		f.retry = false
	case f.Cause == resource.CauseCredential:
		c.hope = time.Time{} // what it has taken before, it does not show to who has no valid token any more
	}
	return f
}

// follow waits until the request is issued or refused, by a watch (Kubernetes: API concepts, efficient detection of changes).
// A server that ends the watch is asked again.
func (c *certifier) follow(ctx context.Context, conn *http.ClientConn, address netip.AddrPort) (tlsbootstrap.Answer, *failure) {
	none := func(f *failure) (tlsbootstrap.Answer, *failure) { return tlsbootstrap.Answer{}, f }
	for {
		a, status, err := c.watch(ctx, conn)
		switch {
		case ctx.Err() != nil && c.approved:
			return none(c.refused(resource.CauseSigner, address, fmt.Errorf("%s is approved, and nobody has signed it", c.request.Name)))
		case ctx.Err() != nil:
			return none(c.refused(resource.CauseUnapproved, address, fmt.Errorf("nobody has approved %s", c.request.Name)))
		case errors.Is(err, errRemoved):
			return none(c.refused(resource.CauseUnapproved, address, fmt.Errorf("%s %w", c.request.Name, err)))
		case err != nil:
			return none(c.t.failed(asking, resource.CauseConnection, address, err))
		case status == http.StatusForbidden:
			return none(c.forbidden(address, errors.New("the token may not watch its request for a certificate")))
		case status != http.StatusOK:
			return none(c.judge(status, address))
		case a.Refused != "":
			cause := resource.CauseDenied
			if a.Failed {
				cause = resource.CauseSigner
			}
			return none(c.refused(cause, address, fmt.Errorf("%s %s", c.request.Name, redact.Line(a.Refused, maxShownAnswer))))
		case len(a.Certificate) > 0:
			return a, nil
		}
	}
}

// watch reads what becomes of the request until there is an answer, which is empty when the watch has ended without one.
func (c *certifier) watch(ctx context.Context, conn *http.ClientConn) (a tlsbootstrap.Answer, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, watchSpan+answerPatience) // a connection that has died says nothing
	defer cancel()
	paid := c.owed(cancel)
	defer paid()
	u := c.requests
	u.RawQuery = url.Values{
		"fieldSelector":  {"metadata.name=" + c.request.Name},
		"timeoutSeconds": {fmt.Sprint(int(watchSpan.Seconds()))},
		"watch":          {"true"},
	}.Encode()
	response, err := c.t.send(ctx, conn, http.MethodGet, &u, nil)
	if err != nil {
		return a, 0, err
	}
	paid()
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxRequest)) // for the next request on the connection
		return a, response.StatusCode, nil
	}
	defer c.heard()
	a, err = c.events(response.Body)
	return a, http.StatusOK, err
}

// errRemoved is why nothing will come of a request.
var errRemoved = errors.New("was removed before anybody approved it")

// events reads what a watch reports.
func (c *certifier) events(body io.Reader) (a tlsbootstrap.Answer, err error) {
	bounded := &io.LimitedReader{R: body}
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
			return tlsbootstrap.Answer{}, nil
		case err != nil:
			return a, fmt.Errorf("the report on %s broke off: %w", c.request.Name, err)
		case event.Type == "ERROR":
			return a, fmt.Errorf("the server does not report on %s: %s", c.request.Name, message(event.Object))
		case event.Type == "DELETED":
			return tlsbootstrap.Answer{}, errRemoved
		}
		if a, err = tlsbootstrap.Read(event.Object); err != nil {
			return a, err
		}
		c.approved = c.approved || a.Approved
		if a.Name == c.request.Name && (a.Refused != "" || len(a.Certificate) > 0) {
			return a, nil
		}
	}
}

// message is what an API server says in an answer that is none (Kubernetes: API conventions, Status).
func message(body []byte) string {
	var status struct{ Message string }
	if err := json.Unmarshal(body, &status); err != nil || status.Message == "" {
		return "it does not say why"
	}
	return redact.Line(status.Message, maxShownAnswer)
}

// isClosed reports whether a channel is closed that nothing is sent on.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
