package fetch

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// challenge is where to request a token for a registry (docs.docker.com/registry/spec/auth/token), and for what.
type challenge struct {
	realm          *url.URL
	service, scope string
}

// maxChallenge limits a challenge, far above what registries send.
const maxChallenge = 8 << 10

// bearer returns the Bearer challenge of an answer, or nil (RFC 9110, 11.6.1). The token's URL must be https: others
// must not read a token or the credential that is sent for it.
//
// There may be several challenges, each a scheme with parameters. A comma separates challenges and also parameters. The
// first value of a parameter counts. What follows a syntax error is not read.
func bearer(header http.Header) *challenge {
	text := strings.Join(header.Values("WWW-Authenticate"), ",")
	text = text[:min(len(text), maxChallenge)]
	scheme, found := "", map[string]string{}
	for {
		before, value, more := strings.Cut(text, "=")
		words := strings.FieldsFunc(strings.ToLower(before), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
		if !more || len(words) == 0 {
			break
		}
		if len(words) > 1 {
			scheme = words[len(words)-2]
		}
		value = strings.TrimLeft(value, " \t")
		if quoted, err := strconv.QuotedPrefix(value); err == nil {
			text = value[len(quoted):]
			value, _ = strconv.Unquote(quoted)
		} else {
			value, text, _ = strings.Cut(value, ",")
		}
		if name := words[len(words)-1]; scheme == "bearer" && found[name] == "" {
			found[name] = value
		}
	}
	realm, err := url.Parse(found["realm"])
	if err != nil || realm.Scheme != "https" || realm.Host == "" || realm.User != nil {
		return nil
	}
	return &challenge{realm, found["service"], found["scope"]}
}
