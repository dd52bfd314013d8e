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
	// headerTimeout is how long a server may think about one request.
	headerTimeout = 30 * time.Second
	// answerTimeout bounds all before the body: redirects and, with them, several connections.
	answerTimeout = time.Minute
	// idleTimeout is how long nothing of a body may come.
	idleTimeout  = 30 * time.Second
	maxHeader    = 64 << 10
	maxRedirects = 5
	userAgent    = "slipway-node"
)

// errSilent ends a request of which nothing comes any more.
var errSilent = errors.New("the server sends nothing any more")

// session is what several requests of one call share: the connections, and the way to wait.
type session struct {
	http *http.Client
	wait func(ctx context.Context, d time.Duration) error
}

// session returns a session, and what ends it.
func (c *Client) session() (*session, func()) {
	s := &session{http: &http.Client{Transport: c.Transport, CheckRedirect: checkRedirect}, wait: c.Wait}
	done := func() {}
	if s.http.Transport == nil {
		own := newTransport(c)
		s.http.Transport, done = own, own.CloseIdleConnections
	}
	if s.wait == nil {
		s.wait = sleep
	}
	return s, done
}

func newTransport(c *Client) *http.Transport {
	t := &http.Transport{
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout:    tlsTimeout,
		ResponseHeaderTimeout:  headerTimeout,
		MaxResponseHeaderBytes: maxHeader,
		// The bytes are wanted as they are: a digest is theirs, and an archive that was unpacked on the way is none.
		DisableCompression: true,
	}
	if c.Proxy != nil {
		t.Proxy = func(r *http.Request) (*url.URL, error) { return c.Proxy(r.URL) }
	}
	if c.Roots != nil {
		t.TLSClientConfig = &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12}
	}
	return t
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// redirectError is a redirect that is not followed.
type redirectError struct{ why string }

func (e *redirectError) Error() string { return e.why }

// checkRedirect says whether a redirect is followed, and takes from the request what is not for the other host.
func checkRedirect(next *http.Request, via []*http.Request) error {
	first, last := via[0], via[len(via)-1]
	switch {
	case first.Method != http.MethodGet:
		return http.ErrUseLastResponse // its body has a credential, and would be sent on
	case len(via) > maxRedirects:
		return &redirectError{fmt.Sprintf("more than %d redirects", maxRedirects)}
	case last.URL.Scheme == "https" && next.URL.Scheme != "https":
		return &redirectError{"redirects from https to " + shownURL(next.URL) + ", which is not followed"}
	}
	// net/http names the last URL, with a signature that may be in its query, and gives a host's credential to the names
	// below it.
	next.Header.Del("Referer")
	if next.URL.Host != first.URL.Host {
		next.Header.Del("Authorization")
	}
	return nil
}

// shownURL is a URL as it may be shown: a query can have a signature that opens the file to everybody.
func shownURL(u *url.URL) string {
	shown := *u
	shown.RawQuery, shown.Fragment, shown.RawFragment = "", "", ""
	return shown.Redacted()
}

// answer is what a server has answered. Its body ends with an error if nothing comes for too long.
type answer struct {
	*http.Response
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

// do sends a request, with a body if that is not empty, and returns the answer, whatever its status. It must be closed.
func (s *session) do(ctx context.Context, method, address string, header http.Header, body string) (*answer, *failure) {
	ctx, cancel := context.WithCancelCause(ctx)
	a := &answer{ctx: ctx, cancel: cancel, timer: time.AfterFunc(answerTimeout, func() { cancel(errSilent) })}
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		a.Close()
		return nil, failed(NotFound, "is not a URL that can be requested") // the error quotes it, with its password
	}
	request.Header = header.Clone()
	request.Header.Set("User-Agent", userAgent)
	request.Header.Set("Accept-Encoding", "identity")
	if user := request.URL.User; user != nil {
		// As a header, so that a redirect on the same host keeps it.
		password, _ := user.Password()
		request.SetBasicAuth(user.Username(), password)
		request.URL.User = nil
	}
	if a.Response, err = s.http.Do(request); err != nil {
		defer a.Close()
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // the URL is in the error already, as it may be shown
		}
		return nil, unanswered(ctx, err)
	}
	a.timer.Stop()
	return a, nil
}

// Read reads of the body.
func (a *answer) Read(p []byte) (int, error) {
	a.timer.Reset(idleTimeout)
	defer a.timer.Stop()
	return a.Body.Read(p)
}

// Close ends the request.
func (a *answer) Close() {
	a.timer.Stop()
	if a.Response != nil {
		a.Body.Close()
	}
	a.cancel(nil)
}

// document reads a body of at most limit bytes.
func (a *answer) document(limit int64) ([]byte, *failure) {
	data, err := io.ReadAll(io.LimitReader(a, limit+1))
	switch {
	case err != nil:
		return nil, interrupted(a.ctx, err)
	case int64(len(data)) > limit:
		return nil, failed(WrongContent, "answers with more than %d bytes where a document of a registry's is expected", limit)
	}
	return data, nil
}

// pages are media types of what people read, and so of no file of a node's.
var pages = []string{"text/html", "application/xhtml+xml"}

// judge says what is wrong with an answer that has none of the statuses wanted, or is a page.
func (a *answer) judge(wanted ...int) *failure {
	if slices.Contains(wanted, a.StatusCode) {
		return a.judgeType()
	}
	var f *failure
	switch status := a.StatusCode; {
	case status == http.StatusNotFound, status == http.StatusGone:
		f = failed(NotFound, "answers %s", a.status())
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		f = failed(Refused, "answers %s", a.status())
	default:
		f = failed(Server, "answers %s", a.status())
		f.again = status/100 == 5 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
	}
	if f.again {
		f.after = metadata.RetryAfter(a.Header)
	}
	return f
}

// status is the answer's status in the words of the standard, not the server's.
func (a *answer) status() string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", a.StatusCode, http.StatusText(a.StatusCode)))
}

// judgeType refuses a page: a portal, a proxy or a login answers with one, and with the status of a file.
func (a *answer) judgeType() *failure {
	name, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if a.StatusCode/100 == 2 && slices.Contains(pages, name) {
		return failed(WrongContent, "answers with %s, which is a page and not the file", name)
	}
	return nil
}
