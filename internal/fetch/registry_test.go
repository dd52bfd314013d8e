package fetch_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/fetch"
)

// object is a JSON object.
type object = map[string]any

// artifact is a repository of a registry: its manifests by tag and digest, and its blobs by digest.
type artifact struct {
	manifests, blobs map[string][]byte
	// headers are added to the answers with manifests.
	headers map[string]string
}

const (
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	indexType    = "application/vnd.oci.image.index.v1+json"
	tag          = "v1"
	artifactFrom = "registry.test/aks/tool:" + tag
)

// newArtifact has one manifest with one file.
func newArtifact(title string, data []byte) *artifact {
	a := &artifact{manifests: map[string][]byte{}, blobs: map[string][]byte{}}
	a.tag(manifestType, object{"layers": []object{a.layer(title, data)}})
	return a
}

// add adds a blob, and returns its descriptor.
func (a *artifact) add(kind string, data []byte) object {
	a.blobs["sha256:"+sum(data)] = data
	return object{"mediaType": kind, "digest": "sha256:" + sum(data), "size": len(data)}
}

func (a *artifact) layer(title string, data []byte) object {
	d := a.add("application/vnd.oci.image.layer.v1.tar+gzip", data)
	if title != "" {
		d["annotations"] = object{"org.opencontainers.image.title": title}
	}
	return d
}

// manifest adds a manifest, and returns its descriptor.
func (a *artifact) manifest(kind string, document object) object {
	document = maps.Clone(document)
	if _, ok := document["mediaType"]; !ok {
		document["mediaType"] = kind
	}
	document["schemaVersion"] = 2
	data, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	d := a.add(kind, data)
	a.manifests[d["digest"].(string)] = data
	return d
}

// tag is manifest, and also sets the tag.
func (a *artifact) tag(kind string, document object) *artifact {
	d := a.manifest(kind, document)
	a.manifests[tag] = a.manifests[d["digest"].(string)]
	return a
}

func (a *artifact) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, name, isManifest := strings.Cut(r.URL.Path, "/manifests/")
	data, found := a.manifests[name]
	if !isManifest {
		_, name, _ = strings.Cut(r.URL.Path, "/blobs/")
		data, found = a.blobs[name]
	}
	if !found || r.Method != http.MethodGet {
		http.NotFound(w, r)
		return
	}
	if !isManifest {
		w.Header().Set("Content-Type", "application/octet-stream")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
		return
	}
	if !slices.Contains(r.Header.Values("Accept"), manifestType) || !slices.Contains(r.Header.Values("Accept"), indexType) {
		http.Error(w, "not acceptable", http.StatusNotAcceptable)
		return
	}
	w.Header().Set("Docker-Content-Digest", "sha256:"+sum(data))
	for name, value := range a.headers {
		w.Header().Set(name, value)
	}
	_, _ = w.Write(data)
}

// with changes an artifact.
func (a *artifact) with(change func(a *artifact)) *artifact {
	change(a)
	return a
}

// forPlatform is a descriptor with a platform.
func forPlatform(d object, os, architecture, version string) object {
	d = maps.Clone(d)
	d["platform"] = object{"os": os, "architecture": architecture, "os.version": version}
	return d
}

// index is an index of one manifest for each platform. The content of each file is the platform's name; the wanted
// platform has archive.
func index(platforms ...[3]string) *artifact {
	a := newArtifact("tool", archive)
	var all []object
	for _, p := range platforms {
		data := archive
		if p != [3]string{"linux", "amd64", "ubuntu 24.04"} {
			data = []byte(fmt.Sprint(p))
		}
		all = append(all, forPlatform(a.manifest(manifestType, object{"layers": []object{a.layer("tool", data)}}), p[0], p[1], p[2]))
	}
	return a.tag(indexType, object{"manifests": all})
}

// image is an image of one layer, with a config that states its platform.
func image(os, architecture string) *artifact {
	return configured(imageConfigType, fmt.Appendf(nil, `{"os":%q,"architecture":%q}`, os, architecture))
}

const imageConfigType = "application/vnd.oci.image.config.v1+json"

// configured has one file, and a config of a type.
func configured(kind string, config []byte) *artifact {
	a := newArtifact("", archive)
	return a.tag(manifestType, object{"config": a.add(kind, config), "layers": []object{a.layer("", archive)}})
}

// amd64 is a requested platform.
var amd64 = fetch.Platform{OS: "linux", Architecture: "amd64", OSVersion: "ubuntu 24.04"}

type registryCase struct {
	name     string
	registry http.Handler
	request  fetch.Request // From, MaxBytes and, if empty, Platform are filled in
	cause    fetch.Cause   // empty for success
	text     string
	asked    int
}

var (
	wrong    = strings.Repeat("0", 64)
	anything = fetch.Platform{OS: "linux"}
)

// The content of registries.
var registryCases = []registryCase{
	{name: "one file", registry: newArtifact("tool", archive), asked: 2},
	{name: "one file without a name", registry: newArtifact("", archive), asked: 2},
	{name: "the same file", registry: newArtifact("", archive), request: fetch.Request{SHA256: sum(archive)}, asked: 2},
	{name: "another file than is known", registry: newArtifact("", archive), request: fetch.Request{SHA256: wrong}, cause: fetch.WrongDigest, text: wrong, asked: 1},
	{name: "an index", registry: index([3]string{"linux", "arm64", "ubuntu 24.04"}, [3]string{"unknown", "unknown"}, [3]string{"linux", "amd64", "ubuntu 22.04"}, [3]string{"linux", "amd64", "ubuntu 24.04"}), asked: 3},
	{name: "an index, and any version", registry: index([3]string{"linux", "amd64", "ubuntu 24.04"}, [3]string{"linux", "amd64", "ubuntu 22.04"}), request: fetch.Request{Platform: anything}, asked: 3},
	{name: "another architecture only", registry: index([3]string{"linux", "arm64", "ubuntu 24.04"}), cause: fetch.WrongContent, text: "nothing for linux/amd64 ubuntu 24.04, but for linux/arm64 ubuntu 24.04", asked: 1},
	{name: "many others", registry: index(slices.Repeat([][3]string{{"linux", "arm64"}}, 40)...), cause: fetch.WrongContent, text: "but for linux/arm64, linux/arm64, linux/arm64 and 37 more", asked: 1},
	{name: "too many others", registry: newArtifact("", archive).tag(indexType, object{"manifests": slices.Repeat([]object{{}}, 160_000)}), cause: fetch.WrongContent, text: "names more than 1000 files or manifests", asked: 1},
	{name: "too many files", registry: newArtifact("", archive).tag(manifestType, object{"layers": slices.Repeat([]object{{}}, 1001)}), cause: fetch.WrongContent, text: "names more than 1000 files or manifests", asked: 1},
	{name: "many files", registry: newArtifact("", archive).tag(manifestType, object{"layers": slices.Repeat([]object{{}}, 1000)}), cause: fetch.WrongContent, text: `1000 files where one is wanted: "" "" "" and 997 more`, asked: 1},
	{name: "files that are no list", registry: newArtifact("", archive).tag(manifestType, object{"layers": object{}}), cause: fetch.WrongContent, text: "cannot be read", asked: 1},
	{name: "an image", registry: image("linux", "amd64"), asked: 3},
	{name: "an image for another architecture", registry: image("linux", "arm64"), cause: fetch.WrongContent, text: "is for another platform: linux/arm64, and linux/amd64 ubuntu 24.04 is wanted", asked: 2},
	{name: "an image for another system", registry: image("windows", "amd64"), cause: fetch.WrongContent, text: "is for another platform: windows/amd64", asked: 2},
	{name: "an image that does not say for what it is", registry: image("", ""), asked: 3},
	{name: "an image, for any architecture", registry: image("linux", "arm64"), request: fetch.Request{Platform: anything}, asked: 3},
	{name: "an image whose config is not there", registry: configured(imageConfigType, []byte("{}")).with(func(a *artifact) { delete(a.blobs, "sha256:"+sum([]byte("{}"))) }), cause: fetch.NotFound, text: "404", asked: 2},
	{name: "an image whose config is another", registry: configured(imageConfigType, []byte("{}")).with(func(a *artifact) { a.blobs["sha256:"+sum([]byte("{}"))] = []byte("[]") }), cause: fetch.WrongDigest, text: sum([]byte("{}")), asked: 2},
	{name: "an image whose config cannot be read", registry: configured(imageConfigType, []byte("[]")), cause: fetch.WrongContent, text: "config cannot be read", asked: 2},
	{name: "an image whose config has no digest", registry: newArtifact("", archive).with(func(a *artifact) {
		a.tag(manifestType, object{"config": object{"mediaType": imageConfigType}, "layers": []object{a.layer("", archive)}})
	}), cause: fetch.WrongContent, text: "not one with SHA-256", asked: 1},
	{name: "an image of Docker's for another architecture", registry: configured("application/vnd.docker.container.image.v1+json", []byte(`{"os":"linux","architecture":"arm64"}`)), cause: fetch.WrongContent, text: "another platform", asked: 2},
	{name: "an artifact with an empty config", registry: configured("application/vnd.oci.empty.v1+json", []byte("{}")), asked: 2},
	{name: "an image that an index has chosen", registry: newArtifact("", archive).with(func(a *artifact) {
		config := a.add(imageConfigType, []byte(`{"os":"linux","architecture":"arm64"}`))
		d := a.manifest(manifestType, object{"config": config, "layers": []object{a.layer("", archive)}})
		a.tag(indexType, object{"manifests": []object{forPlatform(d, "linux", "amd64", "ubuntu 24.04")}})
	}), asked: 3},
	{name: "no such tag", registry: newArtifact("", archive).with(func(a *artifact) { delete(a.manifests, tag) }), cause: fetch.NotFound, text: "404", asked: 1},
	{name: "no such blob", registry: newArtifact("", archive).with(func(a *artifact) { clear(a.blobs) }), cause: fetch.NotFound, text: "404", asked: 2},
	{name: "a flipped bit", registry: newArtifact("", archive).with(func(a *artifact) { a.blobs["sha256:"+sum(archive)] = flipped }), cause: fetch.WrongDigest, text: sum(archive), asked: 2},
	{name: "a shorter blob", registry: newArtifact("", archive).with(func(a *artifact) { a.blobs["sha256:"+sum(archive)] = archive[1:] }), cause: fetch.WrongContent, text: "ends after 307199 of 307200 bytes", asked: rounds + 2},
	{name: "a longer blob", registry: newArtifact("", archive).with(func(a *artifact) { a.blobs["sha256:"+sum(archive)] = append(bytes.Clone(archive), 1) }), cause: fetch.WrongContent, text: "at most 307200", asked: 2},
	{name: "a blob that is too large", registry: newArtifact("", archive), request: fetch.Request{MaxBytes: 1000}, cause: fetch.WrongContent, text: "at most 1000", asked: 1},
	{name: "another manifest than it says", registry: newArtifact("", archive).with(func(a *artifact) {
		a.headers = map[string]string{"Docker-Content-Digest": "sha256:" + wrong}
	}), cause: fetch.WrongDigest, text: wrong, asked: 1},
	{name: "a digest that it cannot say", registry: newArtifact("", archive).with(func(a *artifact) {
		a.headers = map[string]string{"Docker-Content-Digest": "sha256:" + canary}
	}), asked: 2},
	{name: "a page", registry: newArtifact("", archive).with(func(a *artifact) { a.headers = map[string]string{"Content-Type": "text/html"} }), cause: fetch.WrongContent, text: "page", asked: 1},
	{name: "no manifest", registry: newArtifact("", archive).with(func(a *artifact) { a.manifests[tag] = []byte("{") }), cause: fetch.WrongContent, text: "cannot be read", asked: 1},
	{name: "a manifest that is too large", registry: newArtifact("", archive).with(func(a *artifact) { a.manifests[tag] = make([]byte, 4<<20+1) }), cause: fetch.WrongContent, text: "4194304 bytes", asked: 1},
	{name: "nothing", registry: newArtifact("", archive).tag(manifestType, object{}), cause: fetch.WrongContent, text: "neither", asked: 1},
	{name: "a manifest that is an index", registry: newArtifact("", archive).tag(manifestType, object{"mediaType": indexType, "layers": []object{{}}}), cause: fetch.WrongContent, asked: 1},
	{name: "a manifest and an index", registry: newArtifact("", archive).tag(manifestType, object{"layers": []object{{}}, "manifests": []object{{}}}), cause: fetch.WrongContent, text: "or both", asked: 1},
	{name: "an old manifest", registry: newArtifact("", archive).tag("application/vnd.docker.distribution.manifest.v1+json", object{"fsLayers": []object{{}}}), cause: fetch.WrongContent, text: "manifest.v1+json", asked: 1},
	{name: "a digest of another kind", registry: newArtifact("", archive).tag(manifestType, object{"layers": []object{{"digest": "sha512:" + wrong + wrong, "size": 1}}}), cause: fetch.WrongContent, text: "sha512", asked: 1},
	{name: "a digest that is a path", registry: newArtifact("", archive).tag(manifestType, object{"layers": []object{{"digest": "sha256:../../../" + wrong[9:], "size": 1}}}), cause: fetch.WrongContent, text: "..", asked: 1},
	{name: "a size below zero", registry: newArtifact("", archive).tag(manifestType, object{"layers": []object{{"digest": "sha256:" + wrong, "size": -1}}}), cause: fetch.WrongContent, text: "-1", asked: 1},
	{name: "several files", registry: threeFiles(), cause: fetch.WrongContent, text: `3 files where one is wanted: "a.rpm" "b.deb" ""`, asked: 1},
	{name: "Docker's types", registry: newArtifact("", archive).with(func(a *artifact) {
		d := a.manifest("application/vnd.docker.distribution.manifest.v2+json", object{"layers": []object{a.layer("", archive)}})
		a.tag("application/vnd.docker.distribution.manifest.list.v2+json", object{"manifests": []object{forPlatform(d, "linux", "amd64", "ubuntu 24.04")}})
	}), asked: 3},
	{name: "an index of an index of an index of an index", registry: newArtifact("", archive).with(func(a *artifact) {
		d := a.manifest(manifestType, object{"layers": []object{a.layer("", archive)}})
		for range 2 {
			d = a.manifest(indexType, object{"manifests": []object{forPlatform(d, "linux", "amd64", "ubuntu 24.04")}})
		}
		a.tag(indexType, object{"manifests": []object{forPlatform(d, "linux", "amd64", "ubuntu 24.04")}})
	}), cause: fetch.WrongContent, text: "indexes", asked: 3},
}

// threeFiles has three files.
func threeFiles() *artifact {
	a := newArtifact("", archive)
	return a.tag(manifestType, object{"layers": []object{a.layer("a.rpm", flipped), a.layer("b.deb", archive), a.layer("", []byte("x"))}})
}

func TestRegistries(t *testing.T) {
	for _, c := range registryCases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t)
				n.serve("https://registry.test", c.registry)
				r := c.request
				r.From = []string{artifactFrom}
				if r.MaxBytes == 0 {
					r.MaxBytes = 1 << 20
				}
				if r.Platform == (fetch.Platform{}) {
					r.Platform = amd64
				}
				checkRegistry(t, n, n.client(), r, c)
			})
		})
	}
}

func checkRegistry(t *testing.T, n *network, client *fetch.Client, r fetch.Request, c registryCase) {
	t.Helper()
	into := newFile(t, nil)
	got, err := client.Get(t.Context(), r, into)
	if asked := n.asked(); len(asked) != c.asked {
		t.Errorf("%d requests, want %d: %q", len(asked), c.asked, asked)
	}
	if c.cause == "" {
		if err != nil || content(t, into) != string(archive) || got.From != r.From[0] || !got.Checked || got.SHA256 != sum(archive) {
			t.Errorf("%+v, %v", got, err)
		}
		return
	}
	var failed *fetch.Error
	if !errors.As(err, &failed) || failed.Cause != c.cause || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), canary) || len(err.Error()) > 700 {
		t.Errorf("%v, want %q with %q", err, c.cause, c.text)
	}
}

// A reference by digest selects exactly that manifest, from any source.
func TestReferenceByDigest(t *testing.T) {
	a := newArtifact("", archive)
	digest := "sha256:" + sum(a.manifests[tag])
	for from, want := range map[string]fetch.Cause{
		"registry.test/aks/tool@" + digest:             "",
		"registry.test/aks/tool:other@" + digest:       "",
		"registry.test/aks/tool@sha256:" + wrong:       fetch.NotFound,
		"registry.test:443/aks/tool@" + digest:         "",
		"evil.test/aks/tool@" + digest:                 fetch.WrongDigest,
		"registry.test/aks/tool:" + tag:                "",
		"registry.test/a/b-c/d__e.f/tool:v1.30.1-x_Y":  fetch.NotFound,
		"registry.test/aks/tool:" + tag + "@" + digest: "",
	} {
		n := newNetwork(t)
		n.serve("https://registry.test", a)
		n.serve("https://evil.test", newArtifact("", flipped).with(func(e *artifact) {
			e.manifests[digest] = e.manifests[tag]
			e.headers = map[string]string{"Docker-Content-Digest": ""}
		}))
		_, err := atOnce(n).Get(t.Context(), fetch.Request{From: []string{from}, MaxBytes: 1 << 20}, newFile(t, nil))
		var failed *fetch.Error
		if want == "" && err != nil || want != "" && (!errors.As(err, &failed) || failed.Cause != want) {
			t.Errorf("%s: %v, want %q", from, err, want)
		}
	}
}
