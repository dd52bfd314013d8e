// Package redact prepares texts of a node's programs and servers for an error, a log or a result that others read. It
// recognizes secrets by their form, and does not know the author of a text: a secret of the contract is typed
// (nodeconfig.Secret) and never gets here. internal/systemd uses it for journals, internal/probe for answers.
package redact

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// redacted replaces a secret.
const redacted = "[redacted]"

// secrets are the forms of secrets that a node's programs may write in an error: values from the command line, a header
// or a proxy's URL. An agent that quotes no program compiles none of them.
var secrets = sync.OnceValue(func() []secretForm {
	form := func(expression, instead string) secretForm {
		return secretForm{regexp.MustCompile(expression), instead}
	}
	// setting is a name with its separator, and a value in quotes, which nested JSON escapes, or without quotes.
	setting := func(name string) secretForm {
		return form(`(?i)(`+name+`)(?:(\\")[^"\\]*|(")(?:[^"\\]|\\.)*|(')[^']*|\{?[^\s"',;&{}][^\s"',;&}]*)`, "${1}${2}${3}${4}"+redacted)
	}
	return []secretForm{
		// Kubernetes: bootstrap tokens, token format.
		form(`[a-z0-9]{6}\.[a-z0-9]{16}`, redacted),
		// RFC 7519: service account and identity tokens, which are JSON objects in base64.
		form(`eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?`, redacted),
		// aws-iam-authenticator, "k8s-aws-v1.": a signed request to AWS's STS.
		form(`k8s-aws-v1\.[A-Za-z0-9_-]+`, redacted),
		// RFC 7468: a private key, also an incomplete one, on one line or several.
		form(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(-----END [A-Z0-9 ]*PRIVATE KEY-----|$)`, redacted),
		// RFC 9110, 11.6.2: Authorization and Proxy-Authorization, with and without a scheme. Some schemes have parameters.
		form(`(?i)\b(authorization(?:-auxiliary)?[^\w-]{1,4})(?:((?:digest|aws4-hmac-sha256)\s+)\w+=(?:"[^"]*"|[^\s",]+)(?:,\s*\w+=(?:"[^"]*"|[^\s",]+))*|`+
			`((?:basic|bearer|digest|negotiate|token|aws4-hmac-sha256)\s+["']?)[^\s"']+|(?:api-?key|hmac|ntlm|sharedkey(?:lite)?)\s+[^\s"']+|[^\s"']+)`, "${1}${2}${3}"+redacted),
		form(`(?i)\b(bearer) +[A-Za-z0-9._~+/=-]{16,}`, "$1 "+redacted),
		// Headers of registries, clouds and others whose names mark a credential: X-Registry-Auth, X-Vault-Token,
		// X-Amz-Security-Token; cookies (RFC 6265), of which a header can have several.
		form(`(?i)\b(x-[\w-]*(?:auth|token|key|secret)["']?\s*[:=]\s*["']?)[^\s"',;]+`, "${1}"+redacted),
		form(`(?i)\b(cookie["']?\s*[:=]\s*["']?)[^\s"',;]+(?:;\s*[^\s"',;=]+=[^\s"',;]*)*`, "${1}"+redacted),
		// RFC 3986, 3.2.1: the part of a URL before the @, which may be only a token. A password may contain an @, and,
		// against the rules, a slash or a blank: then the part in the port's position is not a number. A proxy is often
		// given without a scheme.
		form(`://[^/?#\s"']*@`, "://"+redacted+"@"),
		form(`(["'][A-Za-z][A-Za-z0-9+.-]*://)[^/?#"'@:]*:[^/?#"']*@`, "${1}"+redacted+"@"),
		form(`://[^/?#\s:@"']*:[0-9]*[^0-9/?#\s@"'][^\s"']*(?: [^\s"'/@]+)?@`, "://"+redacted+"@"),
		form(`(?i)(proxy\w*["']?[=: ] *["']?)[^\s/"'@:;]+:[^\s/"']*@`, "${1}"+redacted+"@"),
		// The signature in a URL: Azure's shared access signature, AWS's and Google's signed URLs; OAuth's tokens (RFC
		// 6750, 2.3). The URL may be inside another.
		form(`(?i)((?:[?&;#]|%3F|%26)(?:sig|code|auth|sas|[\w-]*(?:signature|credential|token|secret|password|passwd|pwd|key|accesskeyid))(?:=|%3D))[^&;\s"']+`, "${1}"+redacted),
		// A flag or a setting with a secret's name: --token x, password=x, "secret_access_key": "x", AccountKey=x.
		form(`(?i)(--?(?:[\w-]*-)?(?:token|password|passwd|secret|api-?key|certificate-key)[= ]["']?)[^\s"']+`, "${1}"+redacted),
		setting(`(?:password|passwd|passphrase|client_?secret|(?:access|refresh|identity|registry|id|session|bootstrap)[_-]?token|(?:secret[_-]?access|secret|account|shared[_-]?access|api|private|certificate)[_-]?key|client[_-]?key[_-]?data|"auth)\\?["']?\s*[:=]\s*`),
		setting(`\b[\w-]*(?:token|secret|signature)=`),
		// In a sentence, the text after these words is seldom a secret.
		setting(`["'][\w-]*(?:token|secret|signature)\\?["']\s*[:=]\s*`),
		form(`(?i)\b([\w-]*token: +)[A-Za-z0-9._~+/=-]{16,}`, "${1}"+redacted),
	}
})

type secretForm struct {
	expression *regexp.Regexp
	instead    string
}

// Secrets removes everything from a text that looks like a secret.
func Secrets(text string) string {
	for _, s := range secrets() {
		text = s.expression.ReplaceAllString(text, s.instead)
	}
	return text
}

// Line prepares an external text for showing: in one line, without secrets, control characters and characters that
// reverse or hide text, and at most limit bytes long.
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
	// This precedes the cut, because a secret that is cut in two is not recognized.
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
