package fetch

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// place is where a file may be, and what is known of it.
type place struct {
	// shown is the place as it may be shown.
	shown string
	// bad says that it is not a place.
	bad *failure
	// reference is set for a registry's.
	reference *reference
	// target is where the file's bytes are: known at once for a URL, and from the manifest for a registry's.
	target *target
	login  login
	tries  int
	last   *failure
}

// target is where the bytes of a file are.
type target struct {
	url string
	// sha256 and size are what the registry's manifest says; "" and -1 if nobody does.
	sha256 string
	size   int64
}

// newPlace reads a place. What has no scheme of http or https is a registry's.
func newPlace(from string) *place {
	scheme, _, _ := strings.Cut(strings.ToLower(from), "://")
	if scheme != "http" && scheme != "https" {
		r, err := parseReference(from)
		if err != nil {
			return &place{shown: fmt.Sprintf("%.80q", from), bad: failed(NotFound, "%w", err)}
		}
		return &place{shown: from, reference: &r}
	}
	u, err := url.Parse(from)
	if err != nil || u.Host == "" {
		// The text is not shown: it may have a password, which cannot be told from the rest.
		return &place{shown: scheme + "://...", bad: failed(NotFound, "is not a URL")}
	}
	return &place{shown: shownURL(u), target: &target{url: from, size: -1}}
}

// reference names something in a registry.
type reference struct {
	// host has a port if the reference has one.
	host string
	path string
	// version is the tag, or the digest if the reference has one.
	version string
}

// referenceForm is the grammar of the OCI distribution specification ("Pulling manifests"), after a host. A path has at most
// 255 characters there, with its host, and a registry has no other digest than SHA-256 here.
var referenceForm = sync.OnceValue(func() *regexp.Regexp {
	const (
		host   = `[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]`
		part   = `[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*`
		tag    = `[A-Za-z0-9_][A-Za-z0-9._-]{0,127}`
		digest = `sha256:[0-9a-f]{64}`
	)
	return regexp.MustCompile(`^((?:` + host + `)(?::[0-9]{1,5})?)/(` + part + `(?:/` + part + `)*)(?::(` + tag + `))?(?:@(` + digest + `))?$`)
})

const maxReference = 512

// parseReference reads HOST[:PORT]/PATH:TAG and HOST[:PORT]/PATH[:TAG]@sha256:DIGEST. There is no default for a host or a
// tag: a node's file has a version.
func parseReference(text string) (reference, error) {
	if len(text) <= maxReference {
		if m := referenceForm().FindStringSubmatch(text); m != nil && (m[3] != "" || m[4] != "") {
			r := reference{host: m[1], path: m[2], version: m[4]}
			if r.version == "" {
				r.version = m[3]
			}
			return r, nil
		}
	}
	return reference{}, fmt.Errorf("is neither an http or https URL nor an OCI reference with a tag or a digest, such as registry.example.org/path:v1")
}

// manifest is the URL of a manifest, by its tag or its digest, and blob that of a blob.
func (r reference) manifest(version string) string { return r.url("manifests", version) }
func (r reference) blob(digest string) string      { return r.url("blobs", digest) }

func (r reference) url(kind, name string) string {
	return "https://" + r.host + "/v2/" + r.path + "/" + kind + "/" + name
}
