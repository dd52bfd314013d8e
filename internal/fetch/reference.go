package fetch

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// remote is a source of a file, and what is known about it.
type remote struct {
	// shown is the source's text for people.
	shown string
	// host, repository and version are the parts of a reference: the host with its port, and the tag, or the digest if
	// it has one. They are empty for a URL.
	host, repository, version string
	// url is the URL of the file's bytes. For a registry it is empty until its manifest is read. sha256 and size are
	// the manifest's, or "" and -1 if unknown.
	url, sha256 string
	size        int64
	// challenge is the registry's last challenge, and authorization the header with its last token, or with a password.
	// known reports that an anonymous token is not sufficient.
	challenge     *challenge
	authorization string
	known         bool
	// last is the result of the last try.
	last *failure
}

// newPlace parses a source. Anything without http or https is a registry reference.
func newPlace(from string) *remote {
	p := &remote{shown: from, size: -1}
	scheme, _, _ := strings.Cut(strings.ToLower(from), "://")
	if scheme == "http" || scheme == "https" {
		u, err := url.Parse(from)
		if err == nil && u.Host != "" {
			p.url, p.shown = from, shownURL(u)
			return p
		}
	} else if p.refer(from) {
		return p
	}
	p.shown = strconv.Quote(scheme[:min(len(scheme), maxReference)]) // the rest may contain a password
	p.last = failed(NotFound, "is neither an http or https URL nor an OCI reference with a tag or a digest")
	return p
}

// referenceForm is the grammar of the OCI distribution specification ("Pulling manifests"), after a host. A digest is
// SHA-256. A host and a tag are required: a node's file has a version.
var referenceForm = sync.OnceValue(func() *regexp.Regexp {
	const (
		host   = `(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?`
		part   = `[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*`
		tag    = `:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}`
		digest = `@sha256:[0-9a-f]{64}`
	)
	return regexp.MustCompile(`^` + host + `/` + part + `(?:/` + part + `)*(?:` + tag + `|(?:` + tag + `)?` + digest + `)$`)
})

const maxReference = 255

// refer parses HOST[:PORT]/PATH:TAG or HOST[:PORT]/PATH[:TAG]@sha256:DIGEST, and reports whether it succeeded.
func (p *remote) refer(text string) bool {
	if len(text) > maxReference || !referenceForm().MatchString(text) {
		return false
	}
	text, digest, _ := strings.Cut(text, "@")
	p.host, text, _ = strings.Cut(text, "/")
	p.repository, p.version, _ = strings.Cut(text, ":")
	if digest != "" {
		p.version = digest
	}
	return true
}

// of is the URL of a manifest or blob of the registry.
func (p *remote) of(kind, name string) string {
	return "https://" + p.host + "/v2/" + p.repository + "/" + kind + "/" + name
}
