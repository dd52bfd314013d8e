package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/metadata"
)

const (
	dialTimeout = 10 * time.Second
	tlsTimeout  = 10 * time.Second
	// headerTimeout limits a server's time before its first header.
	headerTimeout = 30 * time.Second
	// answerTimeout limits everything before the body: redirects and, with them, several connections.
	answerTimeout = time.Minute
	// progressTimeout is the waiting time in which at least minProgress of a body must come, or all of the rest. A
	// server that sends a byte now and then would otherwise keep the node from a working source.
	progressTimeout = 30 * time.Second
	maxHeader       = 64 << 10
	maxRedirects    = 5
	userAgent       = "slipway-node"
)

// The ends of a request without an answer, or with too little of the body.
var (
	errSilent = errors.New("the server sends nothing any more")
	errSlow   = fmt.Errorf("the server sends less than %d KiB in %.0f s", minProgress>>10, progressTimeout.Seconds())
)

// session is what several requests of one call share: the client, the connections, the clock, and the waiting.
type session struct {
	client *Client
	http   http.Client
	wait   func(ctx context.Context, d time.Duration) error
	now    func() time.Time
}

// session returns a session and the function that ends it.
func (c *Client) session() (*session, func()) {
	s := &session{client: c, wait: c.Wait, now: c.Now}
	s.http.Transport, s.http.CheckRedirect = c.Transport, checkRedirect
	done := func() {}
	if s.http.Transport == nil {
		own := c.newTransport()
		s.http.Transport, done = own, own.CloseIdleConnections
	}
	if s.wait == nil {
		s.wait = sleep
	}
	if s.now == nil {
		s.now = time.Now
	}
	return s, done
}

func (c *Client) newTransport() *http.Transport {
	t := &http.Transport{
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout:    tlsTimeout,
		ResponseHeaderTimeout:  headerTimeout,
		MaxResponseHeaderBytes: maxHeader,
		// The bytes must stay unchanged: a digest is of the archive, and an archive that the transport unpacked does
		// not match it.
		DisableCompression: true,
		Protocols:          new(http.Protocols),
	}
	t.Protocols.SetHTTP1(true) // a file is one request: several requests on one connection would save nothing
	if c.Roots != nil {
		t.TLSClientConfig = &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12}
	}
	if c.Proxy != nil {
		t.Proxy = func(r *http.Request) (*url.URL, error) { return c.Proxy(r.URL) }
	}
	return t
}

func sleep(ctx context.Context, d time.Duration) error {
	over, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-over.Done()
	return context.Cause(ctx)
}

// errRedirect is a redirect that is not followed.
var errRedirect = errors.New("redirects, which is not followed")

// checkRedirect decides whether to follow a redirect, and removes from the request what is not for the other host.
func checkRedirect(next *http.Request, via []*http.Request) error {
	first, last := via[0], via[len(via)-1]
	switch {
	case first.Method != http.MethodGet:
		return http.ErrUseLastResponse // its body has a credential, and would be sent again
	case len(via) > maxRedirects:
		return fmt.Errorf("%w: more often than %d times", errRedirect, maxRedirects)
	case last.URL.Scheme == "https" && next.URL.Scheme != "https":
		return fmt.Errorf("%w: from https to %s", errRedirect, shownURL(next.URL))
	}
	// net/http sends the last URL, with a signature that its query may have, and sends a host's credential also to its
	// subdomains.
	next.Header.Del("Referer")
	if next.URL.Host != first.URL.Host {
		next.Header.Del("Authorization")
	} else if next.URL.User == nil && next.URL.Host == last.URL.Host {
		next.URL.User = last.URL.User
	}
	return nil
}

// shownURL is a URL as shown to people: a query can have a signature that gives everyone access to the file.
func shownURL(u *url.URL) string {
	shown := *u
	shown.RawQuery, shown.Fragment, shown.RawFragment = "", "", ""
	return shown.Redacted()
}

// answer is a server's answer. Its body ends with an error if too little of it comes for too long.
type answer struct {
	*http.Response
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	// came is how much of the body has come since the last progress check, and left the remaining waiting time; 0 means
	// a new check.
	came int
	left time.Duration
}

// do sends a request, by POST if it has a form, and returns the answer with any status. The caller must close it.
func (s *session) do(ctx context.Context, address string, header http.Header, form string) (*answer, *failure) {
	method := http.MethodGet
	if form != "" {
		method = http.MethodPost
		header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	a := &answer{ctx: ctx, cancel: cancel, timer: time.AfterFunc(answerTimeout, func() { cancel(errSilent) })}
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form))
	if err != nil {
		a.Close()
		return nil, failed(NotFound, "is not a URL that can be requested") // the error quotes it, with its password
	}
	header.Set("User-Agent", userAgent)
	header.Set("Accept-Encoding", "identity")
	request.Header = header
	a.Response, err = s.http.Do(request)
	a.timer.Stop()
	if err == nil && ctx.Err() == nil {
		a.timer = time.AfterFunc(progressTimeout, func() { cancel(errSlow) })
		return a, nil
	}
	// net/http returns an answer that comes while it ends the request: a server that sees the end may send an empty one.
	// The error is without the URL of net/http's *url.Error, which shows a query.
	f := unanswered(ctx, errors.Unwrap(err))
	a.Close()
	return nil, f
}

// Read reads from the body. Only waiting for the server counts against progressTimeout, not the caller's work.
func (a *answer) Read(p []byte) (int, error) {
	if a.left <= 0 || a.came >= minProgress {
		a.came, a.left = 0, progressTimeout
	}
	begin := time.Now()
	a.timer.Reset(a.left)
	n, err := a.Body.Read(p)
	a.timer.Stop()
	a.came, a.left = a.came+n, max(a.left-time.Since(begin), 1)
	return n, err
}

// Close ends the request.
func (a *answer) Close() {
	a.timer.Stop()
	if a.Response != nil {
		a.Body.Close()
	}
	a.cancel(nil)
}

// document reads the body of a successful answer, at most limit bytes, and closes the answer.
func (a *answer) document(limit int64) ([]byte, *failure) {
	defer a.Close()
	if f := a.judge(http.StatusOK); f != nil {
		return nil, f
	}
	data, err := io.ReadAll(io.LimitReader(a, limit+1))
	switch {
	case err != nil:
		return nil, unanswered(a.ctx, err)
	case int64(len(data)) > limit:
		return nil, failed(WrongContent, "answers with more than %d bytes where a document of a registry's is expected", limit)
	}
	return data, nil
}

// judge returns the failure of an answer that has none of the wanted statuses, or is a page.
func (a *answer) judge(wanted ...int) *failure {
	if slices.Contains(wanted, a.StatusCode) {
		return a.judgeType()
	}
	f := failed(Server, "answers %d %s", a.StatusCode, http.StatusText(a.StatusCode))
	switch status := a.StatusCode; {
	case status == http.StatusNotFound, status == http.StatusGone:
		f.cause = NotFound
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		f.cause = Refused
	default:
		f.again = status/100 == 5 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
	}
	if f.again {
		f.after = min(metadata.RetryAfter(a.Header), longestRetryAfter)
	}
	return f
}

// judgeType refuses a page: a portal, a proxy or a login page answers with one, with the same status as a file.
func (a *answer) judgeType() *failure {
	name, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if a.StatusCode/100 == 2 && (name == "text/html" || name == "application/xhtml+xml") {
		return failed(WrongContent, "answers with %s, which is a page and not the file", name)
	}
	return nil
}
