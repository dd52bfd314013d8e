package redact

import (
	"regexp"
	"strings"
	"sync"
)

// secretForm is a form of secrets: a word, and what is before and after it. An expression alone would have to try each byte of a
// text, which is a thousand times slower than to look for words.
type secretForm struct {
	// words are in lower case, and found in any. A single word that is shorter than minWord is found only as it is.
	words []string
	// after matches from the word on. The secret is the text from the last group to the match's end, without suffix.
	after  *regexp.Regexp
	suffix string
	// before matches the text before the word. If nil, that can be any. If starts, the secret starts with its match.
	before *regexp.Regexp
	starts bool
	// sign, if any, is a character after the word, in the same line.
	sign byte
}

// minWord is the length of the shortest word that is found in upper and lower case.
const minWord = 4

// The words of forms that are not found by a word alone. tokenWord is the dot of a bootstrap token, and keyWord begins a private
// key, which has several lines.
const tokenWord, keyWord = ".", "-----begin"

// secretForms are the forms of secrets that a node's programs may write in an error: values from the command line, a header or a
// proxy's URL. An agent that quotes no program compiles none of them.
var secretForms = sync.OnceValue(func() []secretForm {
	const (
		// value is a value in quotes, which nested JSON escapes, or without quotes.
		value = `(?:(\\")[^"\\]*|(")(?:[^"\\]|\\.)*|(')[^']*|\{?[^\s"',;&{}][^\s"',;&}]*)`
		// assigned is the end of a name, with its separator.
		assigned = `\\?["']?\s*[:=]\s*`
		// query begins a parameter in a URL, which may be inside another one.
		query = `(?i)(?:[?&;#]|%3F|%26)`
	)
	return []secretForm{
		// Kubernetes: bootstrap tokens, token format.
		form(tokenWord, `\.[a-z0-9]{16}`).behind(`[a-z0-9]{6}`, true),
		// RFC 7519: service account and identity tokens, which are JSON objects in base64.
		form("eyJ", `eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?`),
		// aws-iam-authenticator, "k8s-aws-v1.": a signed request to AWS's STS.
		form("k8s-aws-v1.", `k8s-aws-v1\.[A-Za-z0-9_-]+`),
		// RFC 7468: a private key, also an incomplete one, on one line or several.
		form(keyWord, `(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)`),
		// RFC 9110, 11.6.2: Authorization and Proxy-Authorization, with and without a scheme. Some schemes have parameters.
		form("authorization", `(?i)(authorization(?:-auxiliary)?[^\w-]{1,4})(?:((?:digest|aws4-hmac-sha256)\s+)\w+=(?:"[^"]*"|[^\s",]+)(?:,\s*\w+=(?:"[^"]*"|[^\s",]+))*|`+
			`((?:basic|bearer|digest|negotiate|token|aws4-hmac-sha256)\s+["']?)[^\s"']+|(?:api-?key|hmac|ntlm|sharedkey(?:lite)?)\s+[^\s"']+)|`+
			`(authorization(?:-auxiliary)?["'\\]*\s*[:=]\s*["'\\\[]*)[^\s"'\\{}\[\]][^\s"']*`).behind(`(?:^|\W)`, false),
		form("bearer ", `(?i)(bearer +)[A-Za-z0-9._~+/=-]{16,}`).behind(`(?:^|\W)`, false),
		// Headers of registries, clouds and others whose names mark a credential: X-Registry-Auth, X-Vault-Token,
		// X-Amz-Security-Token; cookies (RFC 6265), of which a header can have several.
		form(`(auth|token|key|secret)(:|=|"|'| )`, `(\w+["']?\s*[:=]\s*["']?)[^\s"',;]+`).behind(`(?i)(?:^|\W)x-[\w-]*`, false),
		form(`cookie(:|=|"|'| )`, `(?i)(cookie["']?\s*[:=]\s*["']?)[^\s"',;]+(?:;\s*[^\s"',;=]+=[^\s"',;]*)*`).behind(`(?:^|\W)`, false),
		// RFC 3986, 3.2.1: the part of a URL before the @, which may be only a token. A password may contain an @, and,
		// against the rules, a slash or a blank: then the part in the port's position is not a number. A proxy is often
		// given without a scheme.
		form("://", `(://)[^/?#\s"']*@`),
		form("://", `(://)[^/?#"'@:]*:[^/?#"']*@`).behind(`["'][A-Za-z][A-Za-z0-9+.-]*`, false),
		form("://", `(://)[^/?#\s:@"']*:[0-9]*[^0-9/?#\s@"'][^\s"']*(?: [^\s"'/@]+)?@`),
		form("proxy", `(?i)(proxy\w*["']?[=: ] *["']?)[^\s/"'@:;]+:[^\s/"']*@`),
		// The signature in a URL: Azure's shared access signature, AWS's and Google's signed URLs; OAuth's tokens (RFC
		// 6750, 2.3).
		form(`(sig|code|auth|sas)(=|%3d)`, `(\w+(?:=|%3[Dd]))[^&;\s"']+`).behind(query, false),
		form(`(signature|credential|token|secret|password|passwd|pwd|key|accesskeyid)(=|%3d)`, `(\w+(?:=|%3[Dd]))[^&;\s"']+`).behind(query+`[\w-]*`, false),
		// A flag or a setting with a secret's name: --token x, password=x, "secret_access_key": "x", AccountKey=x.
		form(`-(token|password|passwd|secret|apikey|api-key|certificate-key)(=| )`, `([\w-]+[= ]["']?)[^\s"']+`),
		form(`(password|passwd|passphrase|client(|_)secret|(access|refresh|identity|registry|id|session|bootstrap)(|_|-)token|(secret|secret(|_|-)access|account|shared(|_|-)access|api|private|certificate)(|_|-)key|client(|_|-)key(|_|-)data)(\|"|'|:|=| )`,
			`([\w-]+`+assigned+`)`+value),
		form(`"auth(\|"|'|:|=| )`, `("\w+`+assigned+`)`+value),
		form(`(token|secret|signature)=`, `(\w+=)`+value),
		// In a sentence, the text after these words is seldom a secret.
		form(`(token|secret|signature)(\|"|')`, `(\w+\\?["']\s*[:=]\s*)`+value).behind(`["'][\w-]*`, false),
		form("token: ", `(\w+: +)[A-Za-z0-9._~+/=-]{16,}`),
	}
})

// form returns a form with the words of a pattern, and an expression for the text from the word on.
func form(words, after string) secretForm {
	f := secretForm{words: expand(words), after: regexp.MustCompile(`\A(?:` + after + `)`)}
	if strings.HasSuffix(after, "@") {
		f.suffix, f.sign = "@", '@'
	}
	return f
}

// behind returns the form with an expression for the text before the word.
func (f secretForm) behind(before string, starts bool) secretForm {
	f.before, f.starts = regexp.MustCompile(`(?:`+before+`)\z`), starts
	return f
}

// expand returns all words of a pattern: "a(b|c)" are "ab" and "ac".
func expand(pattern string) (all []string) {
	depth, start := 0, 0
	for i := range len(pattern) + 1 {
		switch {
		case i == len(pattern) || depth == 0 && pattern[i] == '|':
			all = append(all, expandGroup(pattern[start:i])...)
			start = i + 1
		case pattern[i] == '(':
			depth++
		case pattern[i] == ')':
			depth--
		}
	}
	return all
}

// expandGroup returns the words of a pattern that has alternatives in parentheses only.
func expandGroup(pattern string) (all []string) {
	open := strings.IndexByte(pattern, '(')
	if open < 0 {
		return []string{pattern}
	}
	depth, end := 0, open
	for depth > 0 || end == open {
		switch pattern[end] {
		case '(':
			depth++
		case ')':
			depth--
		}
		end++
	}
	for _, middle := range expand(pattern[open+1 : end-1]) {
		for _, rest := range expandGroup(pattern[end:]) {
			all = append(all, pattern[:open]+middle+rest)
		}
	}
	return all
}
