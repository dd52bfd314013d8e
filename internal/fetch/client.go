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

// Client downloads files. The zero value uses the system's roots and no proxy. Several goroutines may use it.
type Client struct {
	// Transport sends the requests. If nil, the client uses a transport with limits and timeouts.
	Transport http.RoundTripper
	// Proxy returns a URL's proxy, if Transport is nil. If Proxy is nil, the client uses no proxy.
	Proxy func(*url.URL) (*url.URL, error)
	// Roots are the certificate authorities for verifying servers, if Transport is nil. If Roots is nil, they are the
	// system's.
	Roots *x509.CertPool
	// Login is called for a registry whose anonymous token is not sufficient. If nil, the client has no login.
	Login Login
	// Password is called for a registry that wants a login for which Login has none. If nil, the client has no password.
	Password Password
	// Progress is called for each downloaded part with the present and the total size; total is 0 if unknown. It may be
	// nil.
	Progress func(bytes, total int64)
	// Waiting is called before each pause between two rounds, with the errors until then. It may be nil.
	Waiting func(why error)
	// Wait waits between two tries, or returns an error to end them. If nil, it uses the clock.
	Wait func(ctx context.Context, d time.Duration) error
	// Now is the time for the limits of tries. If nil, it is the clock's.
	Now func() time.Time
}

// EnvironmentProxy returns a URL's proxy by the variables of the environment (http_proxy and others). It is a [Client]'s Proxy in a program that a
// person starts.
func EnvironmentProxy(u *url.URL) (*url.URL, error) {
	return http.ProxyFromEnvironment(&http.Request{URL: u})
}

// Login returns a refresh token for a registry, by its host and port, or "" if it has none. refused is an earlier
// token that the registry rejects, or "". If that may have expired, Login returns another one.
type Login func(ctx context.Context, host, refused string) (refreshToken string, err error)

// Password returns the user and the password for a registry, by its host and port, or "" if it has none.
type Password func(ctx context.Context, host string) (user, password string, err error)

// Request is the file to download.
type Request struct {
	// From are the file's sources, in the order of trying: an http or https URL, or an OCI reference,
	// HOST[:PORT]/PATH:TAG or HOST[:PORT]/PATH@sha256:DIGEST. Anything without http or https is a reference, as in
	// AKS's contract.
	From []string
	// SHA256 is the file's digest in hexadecimal. Empty means unknown.
	SHA256 string
	// Blob requests the blob with this digest from the references' repositories, whatever their tags name.
	Blob bool
	// Platform selects from an OCI index.
	Platform Platform
	// MaxBytes is the file's maximum size.
	MaxBytes int64
}

// Platform is a platform of an OCI index. An empty field matches any value.
type Platform struct {
	OS, Architecture string
	// OSVersion is a distribution with its version, such as "ubuntu 24.04".
	OSVersion string `json:"os.version"` // the other fields have their names in documents
}

// String formats the platform for an error.
func (p *Platform) String() string {
	return strings.TrimSpace(p.OS + "/" + p.Architecture + " " + p.OSVersion)
}

// matches reports whether this platform is a wanted one.
func (p *Platform) matches(want *Platform) bool {
	return (want.OS == "" || p.OS == want.OS) && (want.Architecture == "" || p.Architecture == want.Architecture) &&
		(want.OSVersion == "" || p.OSVersion == want.OSVersion)
}

// Fetched is the downloaded file.
type Fetched struct {
	// From is its source as shown to people: without a password and a query.
	From string
	// SHA256 is its digest in hexadecimal.
	SHA256 string
	// Bytes is its size, and Resumed the part of it that was already in the file.
	Bytes, Resumed int64
	// Checked reports whether the digest was known in advance.
	Checked bool
}

// The tries. A round tries each source once, as long as a later try may succeed: if the first source is down, the node
// gets the file from the second one at once.
const (
	// patience is how long new rounds begin, since the start or since the file last grew (AKS: retrycmd_get_tarball has
	// a budget of 300 seconds). A machine may get its address that late.
	patience     = 300 * time.Second
	firstPause   = 500 * time.Millisecond
	longestPause = 10 * time.Second
	// longestRetryAfter limits the pause that a server can request.
	longestRetryAfter = time.Minute
	// If a source adds at least this much to the file, it is tried again at once, as often as it does. So the download
	// finishes even if the connection breaks again and again.
	minProgress   = 64 << 10
	progressPause = 100 * time.Millisecond
)

// Get downloads a file. If into holds the beginning of the file from an earlier call and the digest is known, Get
// continues it and checks the digest of the whole file. Otherwise it discards that beginning. After an error, into
// holds what the next call may continue.
//
// The error is an *Error with the problems of all sources. An error of this machine, such as a full disk, is returned
// unchanged.
func (c *Client) Get(ctx context.Context, r Request, into File) (got Fetched, err error) {
	r.SHA256 = strings.ToLower(r.SHA256)
	if len(r.From) == 0 || r.SHA256 != "" && !isSHA256(r.SHA256) {
		return got, fmt.Errorf("fetch into %s: want a place, and a SHA-256 in hexadecimal or none, not %.80q", into.Name(), r.SHA256)
	}
	s, done := c.session()
	defer done()
	begin := s.now()
	g := &download{session: s, request: &r, into: &sink{file: into}, begin: begin, further: begin}
	g.from(r.From)
	p, err := g.run(ctx, g.try)
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
	// begin is when the call began, and further when the file last exceeded its largest size so far, which is most.
	begin, further time.Time
	most           int64
}

// from sets the sources.
func (g *download) from(places []string) {
	for _, from := range places {
		g.places = append(g.places, newPlace(from))
	}
}

// run makes rounds over the sources until one has what try gets, no source may have it later, or ctx ends.
func (g *download) run(ctx context.Context, try func(context.Context, *remote) *failure) (*remote, error) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		again, after := false, time.Duration(0)
		for _, p := range g.places {
			if p.last != nil && !p.last.again {
				continue
			}
			f := g.persist(ctx, p, try)
			if f == nil {
				return p, nil
			}
			if f.cause == "" {
				return p, f.err
			}
			if p.last == nil || ctx.Err() == nil {
				p.last = f // the end of the caller's time is not the source's answer
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

// persist tries a source again as long as the file grows, and once more if an earlier part had to be discarded: that
// part may be another source's, which would spoil every try of this one.
func (g *download) persist(ctx context.Context, p *remote, try func(context.Context, *remote) *failure) *failure {
	repeated := false
	for {
		before := g.into.most
		f := try(ctx, p)
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

// try tries a source once.
func (g *download) try(ctx context.Context, p *remote) *failure {
	if g.request.Blob && p.host != "" {
		p.url, p.sha256 = p.of("blobs", sha256Prefix+g.request.SHA256), g.request.SHA256
	}
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

// failed is the error of all tried sources. ended is why no more were tried, unless all have failed for good.
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
