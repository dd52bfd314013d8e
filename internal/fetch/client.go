package fetch

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client brings files. The zero value uses the system's roots and no proxy. It may be used by several goroutines.
type Client struct {
	// Transport sends the requests; nil for one with limits and time-outs of its own.
	Transport http.RoundTripper
	// Proxy says through which proxy a URL is reached, where Transport is nil; nil for none.
	Proxy func(*url.URL) (*url.URL, error)
	// Roots are the certificate authorities that servers are verified with, where Transport is nil; nil for the system's.
	Roots *x509.CertPool
	// Login is asked for a registry that does not give everybody's token enough. It is nil for a client that has none anywhere.
	Login Login
	// Progress is called for each part of a file that has come: how much there is, and how much there will be, 0 if that is
	// not known. It may be nil.
	Progress func(bytes, total int64)
	// Waiting is called before each pause after which all places are asked again, with what is wrong until then. It may be nil.
	Waiting func(why error)
	// Wait waits between two tries, or returns why it does not; nil for the clock.
	Wait func(ctx context.Context, d time.Duration) error
	// Now is the time that tries are bounded by; nil for the clock.
	Now func() time.Time
}

// Login returns a refresh token for a registry, by its host and port; an empty one if there is none. refused is one that it has given
// before and that the registry does not take, empty for none: where that may have expired, another one is returned.
type Login func(ctx context.Context, host, refused string) (refreshToken string, err error)

// Request says what is fetched.
type Request struct {
	// From are the places that have the file, in the order in which they are tried: an http or https URL, or an OCI
	// reference, HOST[:PORT]/PATH:TAG or HOST[:PORT]/PATH@sha256:DIGEST. What has no scheme of http or https is a reference,
	// as in AKS's contract.
	From []string
	// SHA256 is the file's digest in hexadecimal; "" if it is not known.
	SHA256 string
	// Platform is the one that is taken of an OCI index.
	Platform Platform
	// MaxBytes is how large the file may be.
	MaxBytes int64
}

// Platform is a platform of an OCI index. What is empty matches any.
type Platform struct {
	OS, Architecture string
	// OSVersion is such as "ubuntu 24.04".
	OSVersion string `json:"os.version"` // the others have the names that documents have
}

// String is the platform as an error has it.
func (p *Platform) String() string {
	return strings.TrimSpace(p.OS + "/" + p.Architecture + " " + p.OSVersion)
}

// matches says whether this platform is one that is wanted.
func (p *Platform) matches(want *Platform) bool {
	return (want.OS == "" || p.OS == want.OS) && (want.Architecture == "" || p.Architecture == want.Architecture) &&
		(want.OSVersion == "" || p.OSVersion == want.OSVersion)
}

// Fetched is what has come.
type Fetched struct {
	// From is the place that had it, as it may be shown: without a password and without a query.
	From string
	// SHA256 is its digest in hexadecimal.
	SHA256 string
	// Bytes is its size, and Resumed how much of that was in the file before.
	Bytes, Resumed int64
	// Checked says that the digest was known beforehand.
	Checked bool
}

// The tries. A round asks each place once, as long as a later try may succeed: a node whose first place is down has the file of
// its second at once.
const (
	// patience is how long rounds are begun, since the beginning or the last time that the file got further (AKS:
	// retrycmd_get_tarball has a budget of 300 seconds). A machine may get its address that late.
	patience     = 300 * time.Second
	firstPause   = 500 * time.Millisecond
	longestPause = 10 * time.Second
	// longestRetryAfter bounds what a server can ask for.
	longestRetryAfter = time.Minute
	// A place that sends this much more than there ever was is asked again at once, and as often as it does. So a
	// connection that breaks again and again still brings a file to its end.
	minProgress   = 64 << 10
	progressPause = 100 * time.Millisecond
)

// Get brings a file. What into holds is the beginning of the file from an earlier call, or nothing: it is continued where a
// digest is known, which is checked over the whole file, and thrown away otherwise. After an error it holds what the next call
// may continue.
//
// The error is an *Error with the problems of all places. A problem of this machine's, such as a full disk, is returned as
// it is.
func (c *Client) Get(ctx context.Context, r Request, into File) (got Fetched, err error) {
	r.SHA256 = strings.ToLower(r.SHA256)
	if len(r.From) == 0 || r.SHA256 != "" && !isSHA256(r.SHA256) {
		return got, fmt.Errorf("fetch into %s: want a place, and a SHA-256 in hexadecimal or none, not %.80q", into.Name(), r.SHA256)
	}
	s, done := c.session()
	defer done()
	begin := s.now()
	g := &download{session: s, request: &r, into: &sink{file: into}, begin: begin, further: begin}
	for _, from := range r.From {
		g.places = append(g.places, newPlace(from))
	}
	p, err := g.run(ctx)
	if err == nil {
		got = Fetched{From: p.shown, SHA256: g.into.sum(), Bytes: g.into.size, Resumed: g.into.kept, Checked: g.into.sha256 != ""}
	}
	return got, err
}

// download is one call of Get.
type download struct {
	*session
	request *Request
	places  []*remote
	into    *sink
	// begin is when the call began, and further when the file was last made longer than it ever was, which is most.
	begin, further time.Time
	most           int64
}

// run makes rounds over the places until one has the file, none is left that may have it later, or ctx ends.
func (g *download) run(ctx context.Context) (*remote, error) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		again, after := false, time.Duration(0)
		for _, p := range g.places {
			if p.last != nil && !p.last.again {
				continue
			}
			f := g.persist(ctx, p)
			if f == nil {
				return p, nil
			}
			if f.cause == "" {
				return p, f.err
			}
			if p.last == nil || ctx.Err() == nil {
				p.last = f // that the caller's time is over is not the place's answer
			}
			if ctx.Err() != nil {
				return nil, g.failed(context.Cause(ctx))
			}
			again, after = again || f.again, max(after, f.after)
		}
		if !again {
			return nil, g.failed(nil)
		}
		wait, now := max(pause, after), g.now()
		if now.Sub(g.further)+wait > patience {
			return nil, g.failed(fmt.Errorf("given up after %.0f s", now.Sub(g.begin).Seconds()))
		}
		if g.client.Waiting != nil {
			g.client.Waiting(g.failed(nil))
		}
		if err := g.wait(ctx, wait); err != nil {
			return nil, g.failed(err)
		}
	}
}

// persist asks a place again as long as that brings the file further, and once more if what was there before had to be thrown
// away: it may be another place's, which would spoil every try of this one.
func (g *download) persist(ctx context.Context, p *remote) *failure {
	repeated := false
	for {
		before := g.into.most
		f := g.try(ctx, p)
		switch {
		case f == nil || !f.again:
			return f
		case f.stale && !repeated:
			repeated, g.into.most = true, 0
		case g.into.most < before+minProgress:
			return f
		case g.into.most >= g.most+minProgress:
			g.most, g.further = g.into.most, g.now()
		}
		if g.wait(ctx, max(progressPause, f.after)) != nil {
			return f
		}
	}
}

// try asks a place once.
func (g *download) try(ctx context.Context, p *remote) *failure {
	if p.url == "" {
		if f := g.resolve(ctx, p); f != nil {
			return f
		}
	}
	wanted := cmp.Or(g.request.SHA256, p.sha256)
	if p.sha256 != "" && p.sha256 != wanted {
		return otherDigest(p.sha256, wanted)
	}
	return g.download(ctx, p, wanted)
}

// failed is the error of all places that were asked. ended is why no more were, if that is not that all have failed for good.
func (g *download) failed(ended error) error {
	best := &Error{Cause: Unreachable}
	var all []error
	for _, p := range g.places {
		if p.last == nil {
			continue
		}
		e := &Error{p.last.cause, p.shown, p.last.err}
		if len(all) == 0 || rank(e.Cause) < rank(best.Cause) {
			best.Cause, best.From = e.Cause, e.From
		}
		all = append(all, e)
	}
	if ended != nil {
		all = append(all, ended)
	}
	best.Err = errors.Join(all...)
	return best
}
