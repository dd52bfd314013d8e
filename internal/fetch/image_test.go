package fetch_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/slipway-dev/slipway/internal/fetch"
)

// tagged lists tags in pages, and says where the next page is with the header.
func tagged(pages map[string]string, next func(last string) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		last := r.URL.Query().Get("last")
		if link := next(last); link != "" {
			w.Header().Set("Link", link)
		}
		_, _ = w.Write([]byte(pages[last]))
	}
}

// Tags come from all pages of a registry's list, on its own host only, and within limits.
func TestTags(t *testing.T) {
	page := map[string]string{"": `{"name":"aks/tool","tags":["v1","v2"]}`, "v2": `{"tags":["v3"]}`}
	many := map[string]string{"": `{"tags":[` + strings.Repeat(`"a",`, 100_000) + `"b"]}`}
	end := func(string) string { return "" }
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		tags    string
		cause   fetch.Cause
	}{
		{"two pages", tagged(page, func(last string) string {
			return map[string]string{"": `</v2/aks/tool/tags/list?last=v2&n=1000>; rel="next"`}[last]
		}), "v1 v2 v3", ""},
		{"one page", tagged(page, end), "v1 v2", ""},
		{"no tags", tagged(map[string]string{"": `{"tags":null}`}, end), "", ""},
		{"another host", tagged(page, func(string) string { return `<https://evil.test/v2/aks/tool/tags/list>; rel="next"` }), "", fetch.WrongContent},
		{"by http", tagged(page, func(string) string { return `<http://registry.test/v2/>; rel="next"` }), "", fetch.WrongContent},
		{"no URL", tagged(page, func(string) string { return `<%zz>; rel="next"` }), "", fetch.WrongContent},
		{"no end", tagged(page, func(string) string { return `</v2/aks/tool/tags/list>; rel="next"` }), "", fetch.WrongContent},
		{"too many", tagged(many, end), "", fetch.WrongContent},
		{"no list", tagged(map[string]string{"": "tags"}, end), "", fetch.WrongContent},
		{"missing", status(404), "", fetch.NotFound},
		{"busy", first(1, status(429), tagged(page, end)), "v1 v2", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t)
				n.serve("https://registry.test", c.handler)
				tags, err := n.client().Tags(t.Context(), []string{artifactFrom})
				failed, _ := errors.AsType[*fetch.Error](err)
				if c.cause == "" && (err != nil || strings.Join(tags, " ") != c.tags) || c.cause != "" && (failed == nil || failed.Cause != c.cause) {
					t.Errorf("%.60q, %v", tags, err)
				}
				if asked := fmt.Sprint(n.asked()); strings.Contains(asked, "evil") {
					t.Error(asked)
				}
			})
		})
	}
	if _, err := new(fetch.Client).Tags(t.Context(), []string{"https://registry.test/tool"}); err == nil {
		t.Error("a URL has tags")
	}
}

// An image's index and manifest name their content, by tag and by digest.
func TestImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t)
		a := newArtifact("tool", archive)
		config := a.add(imageConfigType, []byte(`{"os":"linux","architecture":"amd64"}`))
		manifest := a.manifest(manifestType, object{"config": config, "layers": []object{a.layer("", archive), a.layer("", []byte("second"))}})
		a.tag(indexType, object{"manifests": []object{forPlatform(manifest, "linux", "amd64", "")}})
		n.serve("https://registry.test", a)
		index, err := n.client().Image(t.Context(), []string{"registry.test/none:" + tag + "x", artifactFrom}, "")
		if err != nil || len(index.Manifests) != 1 || len(index.Blobs) != 0 || index.From != artifactFrom || sum(index.Data) != index.SHA256 {
			t.Fatalf("%+v, %v", index, err)
		}
		m, err := n.client().Image(t.Context(), []string{artifactFrom}, index.Manifests[0].SHA256)
		if err != nil || len(m.Blobs) != 3 || m.Blobs[1].SHA256 != sum(archive) || m.Blobs[1].Bytes != int64(len(archive)) {
			t.Fatalf("%+v, %v", m, err)
		}
		into := newFile(t, nil)
		got, err := n.client().Get(t.Context(), fetch.Request{From: []string{artifactFrom}, SHA256: m.Blobs[2].SHA256, Blob: true, MaxBytes: 100}, into)
		if err != nil || content(t, into) != "second" || !got.Checked {
			t.Errorf("%+v, %v", got, err)
		}
		if !slices.ContainsFunc(n.asked(), func(s string) bool { return strings.Contains(s, "/blobs/sha256:"+m.Blobs[2].SHA256) }) {
			t.Error(n.asked())
		}
		for name, c := range map[string]struct {
			from, digest string
			cause        fetch.Cause
		}{
			"another digest": {artifactFrom, strings.Repeat("0", 64), fetch.NotFound},
			"a URL":          {"https://registry.test/v2/", "", fetch.NotFound},
		} {
			_, err := n.client().Image(t.Context(), []string{c.from}, c.digest)
			if failed, _ := errors.AsType[*fetch.Error](err); failed == nil || failed.Cause != c.cause {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// A manifest that is not an image's, or that names its content wrongly, is refused.
func TestParseImageRefuses(t *testing.T) {
	for _, text := range []string{
		"", "{}", "[]", `{"layers":[{"digest":"sha256:00","size":1}]}`,
		`{"config":{"mediaType":"application/vnd.oci.empty.v1+json","digest":"sha256:` + strings.Repeat("0", 64) + `","size":2},"layers":[{"digest":"sha256:` + strings.Repeat("0", 64) + `","size":1}]}`,
		`{"manifests":[{"digest":"sha512:` + strings.Repeat("0", 128) + `","size":1}]}`,
		`{"manifests":[{"digest":"sha256:` + strings.Repeat("0", 64) + `","size":-1}]}`,
		`{"manifests":[{"digest":"sha256:` + strings.Repeat("0", 64) + `","size":1}],"layers":[{"digest":"sha256:` + strings.Repeat("0", 64) + `","size":1}]}`,
	} {
		if image, err := fetch.ParseImage([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, image)
		}
	}
}
