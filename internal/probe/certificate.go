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
	"strings"
	"sync/atomic"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/redact"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/tlsbootstrap"
)

const (
	// maxRequest bounds a certificate signing request as a server has it, which has a few kilobytes.
	maxRequest = 256 << 10
	// watchSpan is how long a server is asked to report what becomes of a request before it is asked again, and watchSpare
	// how much longer an answer may take: a connection that has died says nothing.
	watchSpan  = 30 * time.Second
	watchSpare = 10 * time.Second
	// localName is a host's that has none yet (hostname(5)).
	localName = "localhost"
)

// certifier asks an API server for one certificate.
type certifier struct {
	*resource.Certificate
	p       *prober
	node    string
	key     *tlsbootstrap.Key
	request tlsbootstrap.Request
	base    string // the server's path
	// answered says that the server has answered, whatever; taken, that it has the request.
	answered, taken chan struct{}
	attempts        atomic.Int32
	// approved says that somebody has approved it.
	approved bool
	pair     []byte
	steps    []apply.Step
}

// RequestCertificate asks an API server for the kubelet's certificate: it sends the request, and follows it by a watch, over
// the connection that it has made. The key is in memory alone. Once ready is closed, the kubelet waits for nothing else: the
// first attempt is let finish, and a server that has not answered then is the kubelet's to ask. One that refuses is tried
// for as long as a credential that is younger than the node may take, and one that has the request is waited for.
func RequestCertificate(ctx context.Context, wanted *resource.Certificate, ready <-chan struct{}) (*apply.Issued, error) {
	p := *defaultProber
	p.firstDelay, p.maxDelay = 50*time.Millisecond, 500*time.Millisecond // each is waited for by the node
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
	c := &certifier{Certificate: wanted, p: p, answered: make(chan struct{}), taken: make(chan struct{})}
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
	c.base = strings.TrimSuffix(t.url.Path, "/version") + tlsbootstrap.RequestsPath
	t.talk = func(ctx context.Context, conn *http.ClientConn, address netip.AddrPort) *failure {
		return c.talk(ctx, t, conn, address)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t.prepare = func(*target) *failure {
		if c.attempts.Add(1) > 1 && isClosed(ready) && !isClosed(c.answered) {
			cancel()
			return t.failed(resolving, resource.CauseConnection, netip.AddrPort{}, ctx.Err())
		}
		return nil
	}
	go c.hurry(ctx, cancel, ready)
	if err := p.try(ctx, t); err != nil {
		return &apply.Issued{Steps: c.steps}, err
	}
	return &apply.Issued{Pair: c.pair, Node: c.node, Steps: c.steps}, nil
}

// hurry gives the request up when the kubelet would wait longer for it than for a certificate that it asks for itself.
func (c *certifier) hurry(ctx context.Context, cancel func(), ready <-chan struct{}) {
	patience := func(d time.Duration, until <-chan struct{}) bool {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-until:
			return true
		case <-timer.C:
		}
		return false
	}
	select {
	case <-ctx.Done():
		return
	case <-ready:
	}
	defer cancel()
	if c.attempts.Load() <= 1 {
		patience(c.p.answerPatience, c.answered)
	}
	if isClosed(c.answered) && patience(c.p.credentialPatience, c.taken) {
		patience(c.Patience.Std(), nil)
	}
}

// talk sends the request, unless the server has it, and waits for what becomes of it.
func (c *certifier) talk(ctx context.Context, t *target, conn *http.ClientConn, address netip.AddrPort) *failure {
	if !isClosed(c.taken) {
		if f := c.step("certificate request", func() *failure { return c.send(ctx, t, conn, address) }); f != nil {
			return f
		}
		close(c.taken)
	}
	var issued tlsbootstrap.Answer
	f := c.step("certificate approval", func() (f *failure) {
		issued, f = c.follow(ctx, t, conn, address)
		return f
	})
	if f != nil {
		return f
	}
	refuse := func(err error) *failure {
		f := t.failed(waiting, resource.CauseDenied, address, err)
		f.retry = false
		return f
	}
	pair, err := c.key.Pair(issued.Certificate, c.node, time.Now())
	if err != nil {
		return refuse(fmt.Errorf("what was issued for %s cannot be used: %w", c.request.Name, err))
	}
	c.pair = pair
	if f := c.step("certificate used", func() *failure { return c.use(ctx, t) }); f != nil {
		return refuse(f.Err)
	}
	return nil
}

// use shows the certificate to the server that has issued it. The kubelet would go on with one that is refused, and would
// not ask again.
func (c *certifier) use(ctx context.Context, t *target) *failure {
	own, err := tls.X509KeyPair(c.pair, c.pair)
	if err != nil {
		return t.failed(waiting, resource.CauseDenied, netip.AddrPort{}, err)
	}
	shown := &target{url: t.url, endpoint: t.endpoint, host: t.host, port: t.port, roots: t.roots, certificate: &own}
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

// step times a part of the way.
func (c *certifier) step(name string, do func() *failure) *failure {
	start := time.Now()
	f := do()
	c.steps = append(c.steps, apply.Step{Name: name, Start: start, Duration: time.Since(start)})
	return f
}

// send sends the request. One that the server has already came with an attempt whose answer was lost: the name says
// that it is for the same key.
func (c *certifier) send(ctx context.Context, t *target, conn *http.ClientConn, address netip.AddrPort) *failure {
	ctx, cancel := context.WithTimeout(ctx, c.p.attemptTimeout)
	defer cancel()
	response, err := t.send(ctx, conn, http.MethodPost, c.at(t, nil), c.request.Body)
	if err != nil {
		return t.failed(asking, resource.CauseConnection, address, err)
	}
	defer response.Body.Close()
	if !isClosed(c.answered) {
		close(c.answered)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxRequest))
	switch status := response.StatusCode; {
	case err != nil:
		return t.failed(asking, resource.CauseConnection, address, err)
	case status == http.StatusCreated, status == http.StatusConflict:
		return nil
	case status == http.StatusForbidden:
		return t.failed(asking, resource.CauseForbidden, address, fmt.Errorf("the token may not ask for a certificate: %s", message(body)))
	default:
		return c.judge(t, status, address)
	}
}

// judge says what a status means that is not the one wanted.
func (c *certifier) judge(t *target, status int, address netip.AddrPort) *failure {
	if f := t.judgeStatus(status, address); f != nil {
		return f
	}
	f := t.failed(asking, resource.CauseConnection, address, fmt.Errorf("the server answers with HTTP status %d", status))
	f.retry = false
	return f
}

// follow waits until the request is issued or refused, by a watch (Kubernetes: API concepts, efficient detection of changes).
// A server that ends the watch is asked again.
func (c *certifier) follow(ctx context.Context, t *target, conn *http.ClientConn, address netip.AddrPort) (tlsbootstrap.Answer, *failure) {
	pending := func(err error) (tlsbootstrap.Answer, *failure) {
		return tlsbootstrap.Answer{}, t.failed(waiting, resource.CauseUnapproved, address, err)
	}
	for {
		a, status, err := c.watch(ctx, t, conn)
		switch {
		case ctx.Err() != nil && c.approved:
			return pending(fmt.Errorf("%s is approved, and nobody has signed it", c.request.Name))
		case ctx.Err() != nil:
			return pending(fmt.Errorf("nobody has approved %s", c.request.Name))
		case err != nil:
			return tlsbootstrap.Answer{}, t.failed(asking, resource.CauseConnection, address, err)
		case status == http.StatusForbidden:
			return tlsbootstrap.Answer{}, t.failed(asking, resource.CauseForbidden, address, errors.New("the token may not watch its request for a certificate"))
		case status != http.StatusOK:
			return tlsbootstrap.Answer{}, c.judge(t, status, address)
		case a.Refused != "":
			f := t.failed(waiting, resource.CauseDenied, address, fmt.Errorf("%s %s", c.request.Name, redact.Line(a.Refused, maxShownAnswer)))
			f.retry = false
			return tlsbootstrap.Answer{}, f
		case len(a.Certificate) > 0:
			return a, nil
		}
	}
}

// watch reads what becomes of the request until there is an answer, which is empty when the watch has ended without one.
func (c *certifier) watch(ctx context.Context, t *target, conn *http.ClientConn) (a tlsbootstrap.Answer, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, watchSpan+watchSpare)
	defer cancel()
	query := url.Values{
		"fieldSelector":  {"metadata.name=" + c.request.Name},
		"timeoutSeconds": {fmt.Sprint(int(watchSpan.Seconds()))},
		"watch":          {"true"},
	}
	response, err := t.send(ctx, conn, http.MethodGet, c.at(t, query), nil)
	if err != nil {
		return a, 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxRequest)) // for the next request on the connection
		return a, response.StatusCode, nil
	}
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
			return tlsbootstrap.Answer{}, http.StatusOK, nil
		case err != nil:
			return a, 0, fmt.Errorf("the report on %s broke off: %w", c.request.Name, err)
		case event.Type == "ERROR":
			return a, 0, fmt.Errorf("the server does not report on %s: %s", c.request.Name, message(event.Object))
		case event.Type == "DELETED":
			return tlsbootstrap.Answer{Refused: "was removed before it was answered"}, http.StatusOK, nil
		}
		a, err = tlsbootstrap.Read(event.Object)
		if err != nil {
			return a, 0, err
		}
		c.approved = c.approved || a.Approved
		if a.Name == c.request.Name && (a.Refused != "" || len(a.Certificate) > 0) {
			return a, http.StatusOK, nil
		}
	}
}

// at is the address of the requests.
func (c *certifier) at(t *target, query url.Values) *url.URL {
	u := *t.url
	u.Path, u.RawQuery = c.base, query.Encode()
	return &u
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
