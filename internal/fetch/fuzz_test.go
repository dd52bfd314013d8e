package fetch

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// FuzzChallenge: whatever a registry sends, a token is requested only over https, and with a valid scope.
func FuzzChallenge(f *testing.F) {
	for _, text := range []string{
		`Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:a/b:pull"`,
		`Basic realm="a, Bearer b", Bearer realm="https://a/\"b"`, "Negotiate YWJj==, Bearer realm=a", `Bearer realm="\`, "Bearer realm=,", ",=,", "Bearer a=b c=d",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := bearer(http.Header{"Www-Authenticate": {text}})
		if c == nil {
			return
		}
		if realm := c.realm; realm.Scheme != "https" || realm.Host == "" || realm.User != nil || len(c.service)+len(c.scope) > maxChallenge {
			t.Fatalf("%+v", c)
		}
		if _, err := url.Parse(c.realm.String()); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzReference: a text that counts as a reference leads to its host only, and to URLs below its path only.
func FuzzReference(f *testing.F) {
	for _, text := range []string{
		"mcr.microsoft.com/aks/packages/kubernetes/kubelet:v1.34.1", "[::1]:5000/a:b", "registry.test:443/a/b-c__d.e@sha256:" + strings.Repeat("0", 64), "a/b:c@sha256:0", "a:b", "../a:b", "a.b./c:d", "http://a/b:c", "a@b/c:d",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := newPlace(text)
		if (p.last != nil) != (p.host == "" && p.url == "") {
			t.Fatalf("%+v", p)
		}
		if p.host == "" {
			return
		}
		for _, at := range []string{p.of("manifests", p.version), p.of("blobs", "sha256:0")} {
			u, err := url.Parse(at)
			if err != nil {
				continue // such as a port that is too large: the request reports it
			}
			if u.Scheme != "https" || u.Host != p.host || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
				!strings.HasPrefix(u.Path, "/v2/"+p.repository+"/") || strings.Contains(u.Path, "..") && !strings.Contains(p.version, "..") {
				t.Fatalf("%q is asked for at %q", text, at)
			}
		}
	})
}

// FuzzManifest: whatever a manifest contains, the file that it names has a digest and a size that can be checked.
func FuzzManifest(f *testing.F) {
	const digest = `"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"`
	for _, text := range []string{
		`{"layers":[{` + digest + `,"size":1}]}`, `{"manifests":[{` + digest + `,"size":1,"platform":{"os":"linux","architecture":"amd64"}}]}`,
		`{"mediaType":"` + manifestTypes[firstIndex] + `","manifests":[{}]}`, `{"layers":[{"digest":"sha256:","size":-1}]}`, `{"layers":null,"manifests":{}}`, `[]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, f := parseManifest(data)
		var d *descriptor
		switch {
		case f != nil:
		case len(m.Manifests) > 0:
			d, f = m.forPlatform(&Platform{OS: "linux"})
		default:
			d, f = m.file()
		}
		if f != nil {
			checkFailure(t, f)
			return
		}
		if sum, ok := strings.CutPrefix(d.Digest, sha256Prefix); !ok || !isSHA256(sum) || d.Size < 0 {
			t.Fatalf("%+v", d)
		}
	})
}

// checkFailure checks that a problem can be shown.
func checkFailure(t *testing.T, f *failure) {
	t.Helper()
	text := (&Error{Cause: f.cause, From: "registry", Err: f.err}).Error()
	if f.cause == "" || len(text) > maxShown+20 || strings.ContainsAny(text, "\n\x00\x1b") {
		t.Fatalf("%q: %q", f.cause, text)
	}
}

// FuzzToken: whatever a registry sends as its identity's permissions, they are parsed or ignored.
func FuzzToken(f *testing.F) {
	f.Add("a.eyJwZXJtaXNzaW9ucyI6eyJhY3Rpb25zIjpbInJlYWQiXX19.b")
	f.Add("a.e30=.b")
	f.Add("..")
	f.Fuzz(func(t *testing.T, token string) {
		if !mayRead(token) && strings.Count(token, ".") != 2 {
			t.Fatal("an invalid token counts as one that may not read")
		}
		if isToken(token) {
			if _, err := json.Marshal(token); err != nil || strings.ContainsAny(token, " \r\n") {
				t.Fatal(token)
			}
		}
	})
}

// FuzzNextPage: a list of tags continues on its own host only.
func FuzzNextPage(f *testing.F) {
	for _, link := range []string{`</v2/a/tags/list?last=b>; rel="next"`, `<https://registry.test/v2/>; rel=next`, `<//evil.test/>; rel="next"`, "<>; next", `<https://me@registry.test/>; rel="next"`} {
		f.Add(link)
	}
	f.Fuzz(func(t *testing.T, link string) {
		next, failure := nextPage("https://registry.test/v2/a/tags/list?n=1000", link)
		if next == "" || failure != nil {
			return
		}
		if u, err := url.Parse(next); err != nil || u.Scheme != "https" || u.Host != "registry.test" {
			t.Fatalf("%q leads to %q", link, next)
		}
	})
}

// FuzzParseImage: an image names content by SHA-256 only.
func FuzzParseImage(f *testing.F) {
	f.Add([]byte(`{"config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:` + strings.Repeat("0", 64) + `","size":2},"layers":[{"digest":"sha256:` + strings.Repeat("1", 64) + `","size":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		image, err := ParseImage(data)
		if err != nil {
			return
		}
		for _, c := range append(image.Manifests, image.Blobs...) {
			if !isSHA256(c.SHA256) || c.Bytes < 0 {
				t.Errorf("%+v", c)
			}
		}
		if len(image.Manifests) > 0 == (len(image.Blobs) > 0) {
			t.Errorf("%+v is an index and a manifest, or neither", image)
		}
	})
}
