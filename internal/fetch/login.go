package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// login is how far we have got into a registry.
type login struct {
	// token is what the last token request gave, and known that nobody's token is not enough.
	token string
	known bool
	// challenge is the last one. A registry that refuses a token need not repeat it.
	challenge *challenge
}

const (
	// clientID is what a token request has to name (docs.docker.com/registry/spec/auth/oauth), and means nothing.
	clientID = "slipway"
	// maxToken bounds a token and the document that it is in. Azure's have 2 KiB.
	maxToken = 64 << 10
)

// ask asks a place. A registry that wants a token gets nobody's first, and then that of a login, if there is one.
func (g *getting) ask(ctx context.Context, p *place, address string, header http.Header) (*answer, *failure) {
	a, f := g.askOnce(ctx, p, address, header)
	if p.reference == nil {
		return a, f
	}
	for _, way := range []func(context.Context, *place) (string, *failure){g.anonymous, g.identified} {
		if f != nil || !a.isRefused() {
			return a, f
		}
		c, err := bearer(a.Header)
		if err == nil {
			p.login.challenge = &c
		} else if p.login.challenge == nil {
			a.Close()
			return nil, failed(Refused, "answers %s, and %w", a.status(), err)
		}
		token, f := way(ctx, p)
		if f != nil {
			a.Close()
			return nil, f
		}
		if token == "" {
			continue
		}
		a.Close()
		p.login.token = token
		if a, f = g.askOnce(ctx, p, address, header); f != nil {
			return nil, f
		}
	}
	return a, f
}

func (a *answer) isRefused() bool {
	return a.StatusCode == http.StatusUnauthorized || a.StatusCode == http.StatusForbidden
}

func (g *getting) askOnce(ctx context.Context, p *place, address string, header http.Header) (*answer, *failure) {
	if p.login.token != "" {
		header = header.Clone()
		header.Set("Authorization", "Bearer "+p.login.token)
	}
	return g.do(ctx, http.MethodGet, address, header, "")
}

// anonymous asks for the token that everybody gets. A place that gives none says so with one of several statuses, and that
// is no failure: the registry has refused us, and is who says why.
func (g *getting) anonymous(ctx context.Context, p *place) (string, *failure) {
	if p.login.known {
		return "", nil
	}
	c := p.login.challenge
	at := *c.realm
	query := at.Query()
	c.fill(query, p.reference)
	at.RawQuery = query.Encode()
	token, f := g.token(ctx, http.MethodGet, &at, "")
	if f != nil && !f.again {
		return "", nil
	}
	return token, f
}

// identified asks for a token with what Login gives.
func (g *getting) identified(ctx context.Context, p *place) (string, *failure) {
	if g.client.Login == nil {
		return "", nil
	}
	c, host := p.login.challenge, p.reference.host
	if c.realm.Host != host && c.realm.Host+":443" != host && c.realm.Host != host+":443" {
		return "", failed(Refused, "wants the login to be sent to another host, %s", shownURL(c.realm))
	}
	refresh, err := g.client.Login(ctx, host)
	if err != nil {
		return "", loginFailure(err)
	}
	if refresh == "" {
		return "", nil
	}
	p.login.known = true
	form := url.Values{"grant_type": {"refresh_token"}, "client_id": {clientID}, "refresh_token": {refresh}}
	c.fill(form, p.reference)
	token, f := g.token(ctx, http.MethodPost, c.realm, form.Encode())
	if f != nil && !f.again {
		f.cause = Refused
	}
	return token, f
}

// fill adds what a token is for.
func (c *challenge) fill(query url.Values, r *reference) {
	if c.service != "" {
		query.Set("service", c.service)
	}
	scope := c.scope
	if scope == "" {
		scope = "repository:" + r.path + ":pull"
	}
	query.Set("scope", scope)
}

// token makes a token request.
func (s *session) token(ctx context.Context, method string, at *url.URL, form string) (string, *failure) {
	var t struct {
		Token  string `json:"token"`
		Access string `json:"access_token"`
	}
	if f := s.tokens(ctx, method, at.String(), form, &t); f != nil {
		return "", f
	}
	if t.Token == "" {
		t.Token = t.Access
	}
	if !isToken(t.Token) {
		return "", failed(Refused, "%s answers without a token", shownURL(at))
	}
	return t.Token, nil
}

// tokens sends a request whose answer is a document with tokens. Its errors name the place, because it is another one than the
// file's.
func (s *session) tokens(ctx context.Context, method, at, form string, into any) *failure {
	header := http.Header{}
	if form != "" {
		header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	a, f := s.do(ctx, method, at, header, form)
	if f == nil {
		defer a.Close()
		f = a.judge(http.StatusOK)
	}
	var data []byte
	if f == nil {
		data, f = a.document(maxToken)
	}
	if f == nil && json.Unmarshal(data, into) != nil { // its error would quote a part of a token
		f = failed(WrongContent, "the answer has no token that can be read")
	}
	if f != nil {
		f.err = errorAt(at, f.err)
	}
	return f
}

func errorAt(at string, err error) error {
	u, invalid := url.Parse(at)
	if invalid != nil {
		return err
	}
	return &placedError{shownURL(u), err}
}

// placedError names the place of a token that could not be had.
type placedError struct {
	at  string
	err error
}

func (e *placedError) Error() string { return e.at + ": " + e.err.Error() }
func (e *placedError) Unwrap() error { return e.err }

// isToken says that a value can be sent in a header: visible characters of ASCII, and not too many.
func isToken(value string) bool {
	return value != "" && len(value) <= maxToken && !strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' })
}

// loginFailure is a login's error as a place's failure. A login has tried long enough.
func loginFailure(err error) *failure {
	f := failed(Refused, "log in: %w", err)
	var failure *LoginError
	if errors.As(err, &failure) && failure.Cause == RegistryUnreachable {
		f.cause = Unreachable
	}
	return f
}
