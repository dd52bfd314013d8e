package fetch

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// challenge says where a token for a registry is (docs.docker.com/registry/spec/auth/token).
type challenge struct {
	realm          *url.URL
	service, scope string
}

// The limits of a challenge, far above what registries send.
const (
	maxChallenge = 8 << 10
	maxValue     = 2 << 10
)

// bearer finds the challenge for a token among those of an answer.
func bearer(header http.Header) (challenge, error) {
	var schemes []string
	for _, line := range header.Values("WWW-Authenticate") {
		if len(line) > maxChallenge {
			return challenge{}, fmt.Errorf("its challenge has more than %d bytes", maxChallenge)
		}
		for _, offered := range parseChallenges(line) {
			if !strings.EqualFold(offered.scheme, "Bearer") {
				schemes = append(schemes, fmt.Sprintf("%.40q", offered.scheme))
				continue
			}
			realm, err := url.Parse(offered.params["realm"])
			// A token, and the credential that it is given for, go nowhere that others could read them.
			if err != nil || realm.Scheme != "https" || realm.Host == "" || realm.User != nil {
				return challenge{}, errors.New("its challenge names no place for a token that is an https URL")
			}
			return challenge{realm: realm, service: offered.params["service"], scope: offered.params["scope"]}, nil
		}
	}
	if len(schemes) > 0 {
		return challenge{}, fmt.Errorf("wants a login of the kind %s, and only Bearer is known", strings.Join(schemes, ", "))
	}
	return challenge{}, errors.New("does not say how to log in")
}

// offer is one challenge of a WWW-Authenticate header.
type offer struct {
	scheme string
	params map[string]string
}

// parseChallenges reads a WWW-Authenticate header (RFC 9110, 11.6.1). It can have several challenges, each with parameters
// that are separated by the same comma as the challenges are. It reads as far as the text follows the grammar.
func parseChallenges(text string) (all []offer) {
	for {
		text = strings.TrimLeft(text, " \t,")
		name, rest := token(text)
		if name == "" {
			return all
		}
		after := strings.TrimLeft(rest, " \t")
		if value, ok := strings.CutPrefix(after, "="); ok && len(all) > 0 {
			value, rest, ok := parameterValue(strings.TrimLeft(value, " \t"))
			if !ok {
				return all
			}
			if params := all[len(all)-1].params; params[strings.ToLower(name)] == "" && len(value) <= maxValue {
				params[strings.ToLower(name)] = value
			}
			text = rest
			continue
		}
		all = append(all, offer{scheme: name, params: make(map[string]string)})
		text = afterToken68(after)
	}
}

// token is the token (RFC 9110, 5.6.2) that a text begins with, and what follows it.
func token(text string) (name, rest string) {
	end := 0
	for end < len(text) && (isAlphanumeric(text[end]) || strings.IndexByte("!#$%&'*+-.^_`|~", text[end]) >= 0) {
		end++
	}
	return text[:end], text[end:]
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// parameterValue is the token or the quoted string that a text begins with, and what follows it.
func parameterValue(text string) (value, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		value, rest = token(text)
		return value, rest, value != ""
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return b.String(), text[i+1:], true
		case '\\':
			if i++; i == len(text) {
				return "", "", false
			}
		}
		b.WriteByte(text[i])
	}
	return "", "", false
}

// afterToken68 is a text without the token68 that it may begin with: "Negotiate YWJj==" has one, "Bearer realm=" has not.
func afterToken68(text string) string {
	end := 0
	for end < len(text) && (isAlphanumeric(text[end]) || strings.IndexByte("-._~+/", text[end]) >= 0) {
		end++
	}
	for end < len(text) && text[end] == '=' {
		end++
	}
	if rest := strings.TrimLeft(text[end:], " \t"); rest == "" || rest[0] == ',' {
		return rest
	}
	return text
}
