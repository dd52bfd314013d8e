package fetch

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const (
	// clientID is a value that a token request must have (docs.docker.com/registry/spec/auth/oauth) and that has no
	// meaning.
	clientID = "slipway"
	// maxToken limits a token and its document. Azure's have 2 KiB.
	maxToken = 64 << 10
)

// ask sends a request to a source. If the registry requires a token, ask gets an anonymous one first, then a login's,
// if any.
func (g *download) ask(ctx context.Context, p *remote, address string, header http.Header) (*answer, *failure) {
	way := everybody
	for {
		if p.authorization != "" {
			header.Set("Authorization", p.authorization)
		}
		a, f := g.do(ctx, address, header, "")
		if f != nil || p.host == "" || a.StatusCode != http.StatusUnauthorized && a.StatusCode != http.StatusForbidden {
			return a, f
		}
		authorization := ""
		for ; authorization == "" && way <= identified && f == nil; way++ {
			authorization, f = g.authorize(ctx, p, a.Header, way)
		}
		if authorization == "" && f == nil {
			return a, nil // the registry's answer has the reason
		}
		a.Close()
		if f != nil {
			return nil, f
		}
		p.authorization = authorization
	}
}

// The ways to get a token.
const (
	everybody = iota
	identified
)

// authorize returns the header with which the registry permits pulling: with an anonymous token, with one for the
// login, or with the password itself. It is empty if the registry gives no token.
func (g *download) authorize(ctx context.Context, p *remote, header http.Header, way int) (string, *failure) {
	if c := bearer(header); c != nil {
		p.challenge = c // a registry that rejects a token need not send it again
	}
	c := p.challenge
	if c == nil {
		return g.withoutToken(ctx, p, header)
	}
	at, scope := *c.realm, c.scope
	if scope == "" {
		scope = "repository:" + p.repository + ":pull"
	}
	query := form("service", c.service, "scope", scope)
	token, f := "", (*failure)(nil)
	switch {
	case way != everybody:
		token, f = g.identified(ctx, p, &at, query)
	case !p.known:
		token, f = g.plainToken(ctx, &at, query, http.Header{})
		if f != nil && !f.again {
			return "", nil // the registry has denied access, and its answer has the reason
		}
	}
	if token == "" || f != nil {
		return "", f
	}
	return "Bearer " + token, nil
}

// withoutToken returns the header with the password, for a registry that takes it with each request (RFC 7617).
func (g *download) withoutToken(ctx context.Context, p *remote, header http.Header) (string, *failure) {
	if p.authorization != "" {
		return "", nil // it has got the password, and its answer has the reason
	}
	basic := slices.ContainsFunc(header.Values("WWW-Authenticate"), func(c string) bool {
		scheme, _, _ := strings.Cut(strings.TrimSpace(c), " ")
		return strings.EqualFold(scheme, "Basic")
	})
	if !basic {
		return "", failed(Refused, "wants a login, and does not say where a token is, at an https URL")
	}
	authorization, f := g.password(ctx, p)
	if authorization == "" && f == nil {
		f = failed(Refused, "wants a login with a user and a password")
	}
	return authorization, f
}

// password returns the header with the registry's user and password. It is empty if the client has no password for it.
func (g *download) password(ctx context.Context, p *remote) (string, *failure) {
	if g.client.Password == nil {
		return "", nil
	}
	user, password, err := g.client.Password(ctx, p.host)
	if err != nil {
		return "", failed(Refused, "log in: %w", err)
	}
	if user == "" {
		return "", nil
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password)), nil
}

// plainToken requests a token by GET (docs.docker.com/registry/spec/auth/token).
func (g *download) plainToken(ctx context.Context, at *url.URL, query string, header http.Header) (string, *failure) {
	where := *at
	where.RawQuery = strings.TrimPrefix(at.RawQuery+"&"+query, "&")
	return g.secret(ctx, &where, header, "", "access_token")
}

// byPassword requests the token for the password. That goes wherever the registry says, as other clients send it: it is
// the password of this registry alone.
func (g *download) byPassword(ctx context.Context, p *remote, at *url.URL, query string) (string, *failure) {
	password, f := g.password(ctx, p)
	if password == "" || f != nil {
		return "", f
	}
	p.known = true
	token, f := g.plainToken(ctx, at, query, http.Header{"Authorization": {password}})
	if f != nil && !f.again {
		f.cause = Refused
	}
	return token, f
}

// identified requests the token for Login's refresh token, and once more if that has expired. If there is no refresh
// token, it requests one for the password.
func (g *download) identified(ctx context.Context, p *remote, at *url.URL, query string) (string, *failure) {
	refused, last := "", (*failure)(nil)
	for {
		refresh, f := g.login(ctx, p, refused)
		switch {
		case f != nil:
			return "", f
		case refresh == refused && refused != "":
			return "", last
		case refresh == "":
			return g.byPassword(ctx, p, at, query)
		}
		p.known = true
		post := query + "&" + form("grant_type", "refresh_token", "client_id", clientID, "refresh_token", refresh)
		token, f := g.secret(ctx, at, http.Header{}, post, "access_token")
		if f == nil || f.again {
			return token, f
		}
		if f.cause = Refused; refused != "" {
			return "", f
		}
		refused, last = refresh, f
	}
}

// form encodes names and values as a form.
func form(pairs ...string) (text string) {
	for i := 0; i < len(pairs); i += 2 {
		text += "&" + pairs[i] + "=" + url.QueryEscape(pairs[i+1])
	}
	return text[1:]
}

// login calls Login. It is empty if Login is nil or has no token.
func (g *download) login(ctx context.Context, p *remote, refused string) (string, *failure) {
	if g.client.Login == nil {
		return "", nil
	}
	refresh, err := g.client.Login(ctx, p.host, refused)
	if err == nil {
		if host := p.challenge.realm.Host; refresh != "" && strings.TrimSuffix(host, ":443") != strings.TrimSuffix(p.host, ":443") {
			return "", failed(Refused, "wants the login to be sent to another host, %s", host)
		}
		return refresh, nil
	}
	f := failed(Refused, "log in: %w", err) // without a retry: a login has tried long enough
	var login *LoginError
	if errors.As(err, &login) && login.Cause == RegistryUnreachable {
		f.cause = Unreachable
	}
	return "", f
}

// secret requests a token with a header, by POST if it has a form. It returns the answer's field of this name, or the older "token".
// The errors name the token's URL, because it differs from the file's.
func (s *session) secret(ctx context.Context, at *url.URL, header http.Header, form, name string) (token string, f *failure) {
	a, f := s.do(ctx, at.String(), header, form)
	var data []byte
	if f == nil {
		data, f = a.document(maxToken)
	}
	if f == nil {
		var document map[string]any
		_ = json.Unmarshal(data, &document) // its error would quote a part of a token; an invalid document has no token
		if token, _ = document[name].(string); token == "" {
			token, _ = document["token"].(string)
		}
		if !isToken(token) {
			f = failed(Refused, "the answer has no token that can be read")
		}
	}
	if f != nil {
		f.err = fmt.Errorf("%s: %w", shownURL(at), f.err)
	}
	return token, f
}

// isToken reports whether a header can carry a value: visible ASCII characters, and not too many.
func isToken(value string) bool {
	return value != "" && len(value) <= maxToken && !strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' })
}
