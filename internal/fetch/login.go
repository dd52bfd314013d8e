package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
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
		if p.token != "" {
			header.Set("Authorization", "Bearer "+p.token)
		}
		a, f := g.do(ctx, address, header, "")
		if f != nil || p.host == "" || a.StatusCode != http.StatusUnauthorized && a.StatusCode != http.StatusForbidden {
			return a, f
		}
		token := ""
		for ; token == "" && way <= identified && f == nil; way++ {
			token, f = g.token(ctx, p, a.Header, way)
		}
		if token == "" && f == nil {
			return a, nil // the registry's answer has the reason
		}
		a.Close()
		if f != nil {
			return nil, f
		}
		p.token = token
	}
}

// The ways to get a token.
const (
	everybody = iota
	identified
)

// token requests a token for pulling: an anonymous one, or one for the refresh token of Login. It is empty if there is
// none.
func (g *download) token(ctx context.Context, p *remote, header http.Header, way int) (string, *failure) {
	if c := bearer(header); c != nil {
		p.challenge = c // a registry that rejects a token need not send it again
	}
	c := p.challenge
	if c == nil {
		return "", failed(Refused, "wants a login, and does not say where a token is, at an https URL")
	}
	at, scope := *c.realm, c.scope
	if scope == "" {
		scope = "repository:" + p.repository + ":pull"
	}
	query := form("service", c.service, "scope", scope)
	switch {
	case way != everybody:
		return g.identified(ctx, p, &at, query)
	case p.known:
		return "", nil
	}
	at.RawQuery = strings.TrimPrefix(at.RawQuery+"&"+query, "&")
	token, f := g.secret(ctx, &at, "", "access_token")
	if f != nil && !f.again {
		return "", nil // the registry has denied access, and its answer has the reason
	}
	return token, f
}

// identified requests the token for Login's refresh token, and once more if that has expired.
func (g *download) identified(ctx context.Context, p *remote, at *url.URL, query string) (string, *failure) {
	refused, last := "", (*failure)(nil)
	for {
		refresh, f := g.login(ctx, p, refused)
		switch refresh {
		case "":
			return "", f
		case refused:
			return "", last
		}
		p.known = true
		post := query + "&" + form("grant_type", "refresh_token", "client_id", clientID, "refresh_token", refresh)
		token, f := g.secret(ctx, at, post, "access_token")
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
	if host := p.challenge.realm.Host; strings.TrimSuffix(host, ":443") != strings.TrimSuffix(p.host, ":443") {
		return "", failed(Refused, "wants the login to be sent to another host, %s", host)
	}
	refresh, err := g.client.Login(ctx, p.host, refused)
	if err == nil {
		return refresh, nil
	}
	f := failed(Refused, "log in: %w", err) // without a retry: a login has tried long enough
	var login *LoginError
	if errors.As(err, &login) && login.Cause == RegistryUnreachable {
		f.cause = Unreachable
	}
	return "", f
}

// secret requests a token, by POST if it has a form. It returns the answer's field of this name, or the older "token".
// The errors name the token's URL, because it differs from the file's.
func (s *session) secret(ctx context.Context, at *url.URL, form, name string) (token string, f *failure) {
	a, f := s.do(ctx, at.String(), http.Header{}, form)
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
