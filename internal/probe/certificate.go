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
	// maxRequest bounds a certificate signing request as a server has it, which has a few kilobytes.
	maxRequest = 256 << 10
	// localName is a host's that has none yet (hostname(5)).
	localName = "localhost"
	// certificateDelay is waited before the second attempt, maxCertificateDelay at most before a later one: the node waits.
	certificateDelay, maxCertificateDelay = 50 * time.Millisecond, 500 * time.Millisecond
	// watchInterval is the least time between the beginnings of two watches, and watchSpread how much more it is at most, so that nodes
	// that were cut off together do not come back together (client-go tools/cache/reflector.go: 800 ms and more, with jitter).
	watchInterval, watchSpread = time.Second, 500 * time.Millisecond
	// nameInterval is how often the host's name is looked at, which is a system call.
	nameInterval = 50 * time.Millisecond
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
	// host is the machine's name.
	host func() (string, error)
	// ready is closed when all else is there that the kubelet waits for, hope is until when a server is asked again all the same.
	ready <-chan struct{}
	hope  time.Time
	// conn is the connection of the attempt that goes on, to address.
	conn    *http.ClientConn
	address netip.AddrPort
	// taken says that the server has the request, approved that somebody has approved it; issued is what the server answers.
	taken, approved bool
	issued          tlsbootstrap.Answer
	// watched is when the server last answered a watch, however, and refused why the attempt before has not got what it watched for.
	watched time.Time
	refused *failure
	// giveUp ends the request.
	giveUp func()
	pair   []byte
	steps  []apply.Step
}

// RequestCertificate asks an API server for the kubelet's certificate: it sends the request, and follows it by a watch, over
// the connection that it has made. The key is in memory alone. Once ready is closed, the kubelet waits for nothing else, and the
// server has as long as the table of certificatewait.go says.
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

// name looks what the Node is called.
func (c *certifier) name() (err error) {
	if c.node, err = nameOr(c.Node, c.host); err == nil && c.node == localName {
		err = errors.New("the host has no name yet")
	}
	return err
}

// named waits for a name for as long as the kubelet waits for anything. The name may be what it waits for, so it is looked at once more
// after that.
func (c *certifier) named(ctx context.Context) *failure {
	for !isClosed(c.ready) && c.name() != nil && poll.Sleep(ctx, nameInterval) {
	}
	if err := c.name(); err != nil {
		return c.failed(resource.CauseMissing, err)
	}
	return nil
}

// attempt connects, sends the request, unless the server has it, waits for what becomes of it, and looks whether that can be used.
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

// step times a part of the way. One that is gone again goes on from its first beginning.
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

// failed is a failure of which another attempt may know better, final one of which none will.
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

// send sends the request. One that the server has already came with an attempt whose answer was lost: the name says
// that it is for the same key.
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

// judge says what a status means that is not the one wanted; what the token may not do is what it was asked for.
func (c *certifier) judge(status int, asked string) *failure {
	if status == http.StatusForbidden {
		if c.hope.IsZero() {
			c.heard() // a server that has just started may not know yet that it may
		}
		return c.failed(resource.CauseForbidden, errors.New("the token may not "+asked))
	}
	f := c.t.judgeStatus(status, c.address)
	if f == nil {
		return c.final(resource.CauseConnection, "the server answers with HTTP status %d", status)
	}
	if f.Cause == resource.CauseCredential {
		c.hope = time.Time{} // what it has taken before, it does not show to who has no valid token any more
	}
	return f
}

// follow waits until the request is issued or refused, by a watch (Kubernetes: API concepts, efficient detection of changes).
// A server that ends the watch is asked again, however it ends it, but not more often than watchInterval.
func (c *certifier) follow(ctx context.Context) *failure {
	for {
		if !c.hopefully(ctx, c.untilNextWatch(), c.p.sleep) && ctx.Err() == nil && c.refused != nil {
			return c.refused
		}
		status, err := c.watch(ctx)
		a := &c.issued
		switch {
		case ctx.Err() != nil && c.approved:
			return c.final(resource.CauseSigner, "%s is approved, and nobody has signed it", c.request.Name)
		case ctx.Err() != nil:
			return c.final(resource.CauseUnapproved, "nobody has approved %s", c.request.Name)
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

// untilNextWatch is how long no other watch may begin; not positive for now. The spread follows the request's name: the key is another
// on each node, and so is the name.
func (c *certifier) untilNextWatch() time.Duration {
	if c.watched.IsZero() {
		return 0
	}
	sum := sha256.Sum256([]byte(c.request.Name))
	return time.Until(c.watched.Add(watchInterval + watchSpread*time.Duration(sum[0])/256))
}

// errRemoved is why nothing will come of a request.
var errRemoved = errors.New("was removed before anybody approved it")

// watch reads what becomes of the request until there is an answer, which is empty when the watch has ended without one.
func (c *certifier) watch(ctx context.Context) (status int, err error) {
	c.issued = tlsbootstrap.Answer{}
	ctx, cancel := context.WithTimeout(ctx, watchSpan+answerPatience) // a connection that has died says nothing
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
		_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxRequest)) // for the next request on the connection
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

// use takes what was issued, and shows it to the server. The kubelet would go on with a certificate that is refused, and would
// not ask again.
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
	c.pair = pair // also where it cannot be shown just now
	return nil
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
