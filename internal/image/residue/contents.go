package residue

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// contentRule finds credentials in text files. It reports only what can be nothing else, because a finding ends a build; package redact,
// which hides what may be one, knows more forms.
type contentRule struct {
	rule
	// words begin or are in every match. The form is tried where one is, because it takes a hundred times as long.
	words []string
	form  *regexp.Regexp
}

// The text around a word in which its form is tried, in bytes: at most the beginning of its line, and what comes after.
const before, after = 512, 1024

func (r *contentRule) matches(data []byte) bool {
	for _, word := range r.words {
		for at := 0; ; {
			next := bytes.Index(data[at:], []byte(word))
			if next < 0 {
				break
			}
			at += next
			line := max(bytes.LastIndexByte(data[:at], '\n')+1, at-before)
			if r.form.Match(data[line:min(at+after, len(data))]) {
				return true
			}
			at += len(word)
		}
	}
	return false
}

// contents are the rules about the contents of files. No other command of the program compiles their forms.
var contents = sync.OnceValue(func() []contentRule {
	return []contentRule{
		// RFC 7468.
		{rule: rule{
			"private-keys", Error, "all machines of the image, and who can read the image, would have the same private key", "delete the file, and make a key at the first boot"},
			words: []string{"PRIVATE KEY-----"}, form: regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----\s*[A-Za-z0-9+/=:]`)},
		// kubeconfig (client-go, tools/clientcmd/api/v1).
		{rule: rule{
			"kubeconfig-credentials", Error, "who can read the image has access to the cluster", "delete the file"},
			words: []string{"client-key-data:", "client-certificate-data:"}, form: regexp.MustCompile(`(?m)^\s*client-(?:key|certificate)-data:\s*\S`)},
		// Bootstrap tokens (Kubernetes, "Authenticating with bootstrap tokens").
		{rule: rule{
			"bootstrap-tokens", Error, "who can read the image can join nodes to the cluster, as long as the token lives", "delete the file; the machine's contract has the token"},
			words: []string{"oken"}, form: regexp.MustCompile(`(?i)token["']?\s*[:= ]\s*["']?[a-z0-9]{6}\.[a-z0-9]{16}\b`)},
		// RFC 7519: both parts are JSON objects in base64.
		{rule: rule{
			"web-tokens", Error, "who can read the image can use the token", "delete the file"},
			words: []string{"eyJ"}, form: regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}`)},
		// AWS: IAM identifiers of long-term and of temporary keys. The documentation's own examples end in EXAMPLE.
		{rule: rule{
			"aws-keys", Error, "who can read the image can use the account of the cloud", "delete the file; give the machine a role"},
			words: []string{"AKIA"}, form: regexp.MustCompile(`\bAKIA[A-Z2-7]{9}(?:[A-DF-Z2-7][A-Z2-7]{6}|E[A-WYZ2-7][A-Z2-7]{5})\b`)},
		{rule: rule{
			"azure-keys", Error, "who can read the image can read and write the storage account", "delete the file; give the machine an identity"},
			words: []string{"AccountKey="}, form: regexp.MustCompile(`AccountKey=[A-Za-z0-9+/]{40,}={0,2}`)},
		{rule: rule{
			"github-tokens", Error, "who can read the image can use the token", "delete the file"},
			words: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, form: regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{50,})\b`)},
		// containers-auth.json(5), and Docker's config.json: base64 of user and password.
		{rule: rule{
			"registry-logins", Error, "who can read the image has the login of the registry", "delete the file; use a credential provider"},
			words: []string{`"auth"`}, form: regexp.MustCompile(`"auth"\s*:\s*"[A-Za-z0-9+/]{8,}={0,2}"`)},
		// RFC 3986, 3.2.1: in package sources, proxies, mirrors of images.
		{rule: rule{
			"url-passwords", Error, "who can read the image has the password in the URL", "delete the file, or take the password out of it"},
			words: []string{"://"}, form: regexp.MustCompile(`(?m)^[^#\n]*\b(?:https?|ftp|socks5h?)://[^/?#\s:@"'<>$%{}\[\]]+:[^/?#\s@"'<>${}\[\]]{3,}@[A-Za-z0-9\[]`)},
		// RFC 7617 and 6750, in the files of packages' and containers' clients.
		{rule: rule{
			"authorization-headers", Error, "who can read the image can use the credential", "delete the file"},
			words: []string{"uthorization"}, form: regexp.MustCompile(`(?im)^[^#\n]*\bauthorization["'\]]*\s*[:=]\s*["'\[]*\s*(?:basic [A-Za-z0-9+/]{8,}|bearer [A-Za-z0-9._~+/-]{16,})`)},
	}
})

// searched are the directories whose files may hold credentials. What a package brings (/usr) has examples of them, but no others.
var searched = []string{"etc/", "root/", "home/", "opt/", "srv/", "var/lib/", "var/spool/", "var/backups/", "usr/local/", "boot/"}

// unsearched are directories in these whose files packages bring or only servers read.
var unsearched = []string{"var/lib/dpkg/", "var/lib/apt/", "var/lib/rpm/", "var/lib/containerd/io.containerd.", "var/lib/docker/overlay2/", "etc/ssl/certs/"}

// mayHoldSecrets reports whether a file is in a directory whose files are read.
func mayHoldSecrets(name string) bool {
	in := func(directories []string) bool {
		for _, d := range directories {
			if strings.HasPrefix(name, d) {
				return true
			}
		}
		return false
	}
	return in(searched) && !in(unsearched)
}
