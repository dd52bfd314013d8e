package fetch

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// challenge says where a token for a registry is (docs.docker.com/registry/spec/auth/token).
type challenge struct{ realm, service, scope string }

// maxChallenge bounds a challenge, far above what registries send.
const maxChallenge = 8 << 10

// bearer finds the challenge for a token among those of an answer, and the place of the token, nil if there is none. That must be an https URL: a token, and
// the credential that it is given for, go nowhere that others could read them.
func bearer(header http.Header) (challenge, *url.URL) {
	for _, line := range header.Values("WWW-Authenticate") {
		c := parseChallenge(line[:min(len(line), maxChallenge)])
		if realm, err := url.Parse(c.realm); err == nil && realm.Scheme == "https" && realm.Host != "" && realm.User == nil {
			return c, realm
		}
	}
	return challenge{}, nil
}

// parseChallenge reads the challenge for a token in a WWW-Authenticate header (RFC 9110, 11.6.1). There may be several
// challenges, each a scheme with parameters, and the commas between them are those between parameters, too. The first value
// of a parameter counts. What follows a mistake is not read.
func parseChallenge(text string) (c challenge) {
	scheme := ""
	for {
		before, value, found := strings.Cut(text, "=")
		words := strings.FieldsFunc(before, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
		if !found || len(words) == 0 {
			return c
		}
		if len(words) > 1 {
			scheme = words[len(words)-2]
		}
		value = strings.TrimLeft(value, " \t")
		quoted, err := strconv.QuotedPrefix(value)
		if err == nil {
			text = value[len(quoted):]
			value, err = strconv.Unquote(quoted)
		} else {
			value, text, _ = strings.Cut(value, ",")
		}
		if !strings.EqualFold(scheme, "Bearer") {
			continue
		}
		for _, p := range []struct {
			name string
			into *string
		}{{"realm", &c.realm}, {"service", &c.service}, {"scope", &c.scope}} {
			if strings.EqualFold(words[len(words)-1], p.name) && *p.into == "" {
				*p.into = value
			}
		}
	}
}
