// Package redact makes what a node's programs and servers say fit to be shown: in an error, a log or a result that
// others read. It knows secrets by their form, and nothing of who wrote the text: a secret of the contract is typed
// (nodeconfig.Secret) and never gets here. internal/systemd quotes journals by it, internal/probe answers.
package redact

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// redacted stands where a secret was.
const redacted = "[redacted]"

// secrets are what secrets look like that a node's programs may write when they complain: what they were
// given on the command line, in a header or in a proxy's URL. An agent that quotes no program compiles none.
var secrets = sync.OnceValue(func() []secretForm {
	form := func(expression, instead string) secretForm {
		return secretForm{regexp.MustCompile(expression), instead}
	}
	return []secretForm{
		// Kubernetes: bootstrap tokens, token format.
		form(`[a-z0-9]{6}\.[a-z0-9]{16}`, redacted),
		// RFC 7519: service account and identity tokens, which are JSON objects in base64.
		form(`eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?`, redacted),
		// RFC 9110, 11.6.2: Authorization.
		form(`(?i)\b(authorization\W{1,4}\w+) +[^\s"']+`, "$1 "+redacted),
		form(`(?i)\b(bearer) +[A-Za-z0-9._~+/=-]{16,}`, "$1 "+redacted),
		// RFC 3986, 3.2.1: the password in a URL.
		form(`://[^/?#\s:@]*:[^/?#\s@]+@`, "://"+redacted+"@"),
	}
})

type secretForm struct {
	expression *regexp.Regexp
	instead    string
}

// Secrets takes out of a text what looks like a secret.
func Secrets(text string) string {
	for _, s := range secrets() {
		text = s.expression.ReplaceAllString(text, s.instead)
	}
	return text
}

// Line is a text from outside as it may be shown: on one line, without secrets, control characters and
// what would turn or hide text, and not longer than limit bytes.
func Line(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r) || r == utf8.RuneError:
			return -1
		}
		return r
	}, text)
	// Before it is cut: a secret that is cut in two is not recognized.
	text = Secrets(strings.Join(strings.Fields(text), " "))
	if len(text) <= limit {
		return text
	}
	const more = "..."
	end := limit - len(more)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + more
}
