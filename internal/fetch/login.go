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
	// clientID is what a token request has to name (docs.docker.com/registry/spec/auth/oauth), and means nothing.
	clientID = "slipway"
	// maxToken bounds a token and the document that it is in. Azure's have 2 KiB.
	maxToken = 64 << 10
)

// ask asks a place. A registry that wants a token gets nobody's first, and then that of a login, if there is one.
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
			return a, nil // the registry says why there is none
		}
		a.Close()
		if f != nil {
			return nil, f
		}
		p.token = token
	}
}

// The ways to a token.
const (
	everybody = iota
	identified
)

// token asks for a token to pull: the one that everybody gets, or the one for what Login gives. It is empty if there is none.
func (g *download) token(ctx context.Context, p *remote, header http.Header, way int) (string, *failure) {
	if c := bearer(header); c != nil {
		p.challenge = c // a registry that refuses a token need not repeat it
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
		return "", nil // the registry has refused us, and says why
	}
	return token, f
}

// identified asks for the token for what Login gives, and once more where that has expired.
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

// form is a form with names and values.
func form(pairs ...string) (text string) {
	for i := 0; i < len(pairs); i += 2 {
		text += "&" + pairs[i] + "=" + url.QueryEscape(pairs[i+1])
	}
	return text[1:]
}

// login is what Login gives, empty if that is nothing.
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
	f := failed(Refused, "log in: %w", err) // and not again: a login has tried long enough
	var login *LoginError
	if errors.As(err, &login) && login.Cause == RegistryUnreachable {
		f.cause = Unreachable
	}
	return "", f
}

// secret asks for a token, by POST if it has a form. It is what the answer has by this name, or by its old name "token". The
// errors name the place, because it is another one than the file's.
func (s *session) secret(ctx context.Context, at *url.URL, form, name string) (token string, f *failure) {
	a, f := s.do(ctx, at.String(), http.Header{}, form)
	var data []byte
	if f == nil {
		data, f = a.document(maxToken)
	}
	if f == nil {
		var document map[string]any
		_ = json.Unmarshal(data, &document) // its error would quote a part of a token; what is no document has no token
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

// isToken says that a value can be sent in a header: visible characters of ASCII, and not too many.
func isToken(value string) bool {
	return value != "" && len(value) <= maxToken && !strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' })
}
