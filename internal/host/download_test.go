package host

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/integrity"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/rootfs"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// packed is an archive of files, "name=content", and of links, "name->target", and its digest.
func packed(t *testing.T, files ...string) ([]byte, string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, file := range files {
		name, content, _ := strings.Cut(file, "=")
		header := &tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}
		if link, target, is := strings.Cut(name, "->"); is {
			header = &tar.Header{Typeflag: tar.TypeSymlink, Name: link, Linkname: target}
		}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, content)
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	return b.Bytes(), hex.EncodeToString(sum[:])
}

// machineIn is a machine with its files below a directory.
func machineIn(t *testing.T) (*Machine, string) {
	t.Helper()
	root := t.TempDir()
	tree, err := rootfs.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return &Machine{Tree: tree}, root
}

// wanted is a component with a required kubelet and an optional kubectl.
func wanted(from ...string) *resource.Download {
	return &resource.Download{Component: "kubernetes", From: from, Files: []resource.Unpacked{
		{Name: "kubelet", Members: []string{"kubernetes/node/bin/kubelet"}},
		{Name: "kubectl", Members: []string{"kubernetes/node/bin/kubectl"}, Optional: true},
	}}
}

func inStore(t *testing.T, root string, d *resource.Download) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, d.Store()))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func causeOf(err error) resource.Cause {
	var failed *apply.CheckError
	if errors.As(err, &failed) {
		return failed.Cause
	}
	return ""
}

// Debian's package of runc has the program at one path, and a link to it at another.
func TestDownloadLink(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		says  string
	}{
		"the link first":  {[]string{"usr/bin/runc->../sbin/runc", "usr/sbin/runc=the runc"}, ""},
		"the link last":   {[]string{"usr/sbin/runc=the runc", "usr/bin/runc->../sbin/runc"}, ""},
		"only the link":   {[]string{"usr/bin/runc->../sbin/runc"}, "usr/bin/runc: is a link, and no file"},
		"neither of them": {[]string{"usr/bin/other->runc"}, "has no file usr/bin/runc or usr/sbin/runc"},
	} {
		t.Run(name, func(t *testing.T) {
			m, root := machineIn(t)
			archived, _ := packed(t, c.files...)
			if err := errors.Join(os.MkdirAll(filepath.Join(root, "opt"), 0o755), os.WriteFile(filepath.Join(root, "opt/runc.tgz"), archived, 0o644)); err != nil {
				t.Fatal(err)
			}
			d := &resource.Download{Component: "runc", From: []string{"/opt/runc.tgz"}, Files: []resource.Unpacked{{Name: "runc", Members: []string{"usr/bin/runc", "usr/sbin/runc"}}}}
			_, err := m.Download(t.Context(), d, nothing)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("got %v", err)
				}
				return
			}
			content, readErr := os.ReadFile(filepath.Join(root, d.Path("runc")))
			if err != nil || readErr != nil || string(content) != "the runc" {
				t.Errorf("%v, %v: %q", err, readErr, content)
			}
		})
	}
}

// All the ways in which a component is downloaded or fails to be.
func TestDownload(t *testing.T) {
	good, digest := packed(t, "kubernetes/node/bin/kubelet=the kubelet", "other=x", "kubernetes/node/bin/kubectl=the kubectl")
	other, _ := packed(t, "kubernetes/node/bin/kubectl=the kubectl")
	empty, _ := packed(t, "kubernetes/node/bin/kubelet=")
	outside, _ := packed(t, "../kubelet=x", "kubernetes/node/bin/kubelet=the kubelet")
	files := map[string][]byte{"/good": good, "/other": other, "/empty": empty, "/outside": outside, "/cut": good[:len(good)-9], "/html": []byte("<!DOCTYPE html><html>")}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write(content)
	}))
	defer server.Close()
	authority := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	const image = "/opt/kubelet/downloads/"
	for _, c := range []struct {
		name   string
		from   []string
		sha256 string
		origin string // the expected origin
		cause  resource.Cause
		says   string
	}{
		{name: "a server", from: []string{server.URL + "/good"}, origin: server.URL + "/good"},
		{name: "with its digest", from: []string{server.URL + "/good"}, sha256: digest, origin: server.URL + "/good"},
		{name: "the image first", from: []string{image + "good", server.URL + "/good"}, origin: image + "good"},
		{name: "the image does not have it", from: []string{image + "none", server.URL + "/good"}, origin: server.URL + "/good"},
		{name: "the image's is another one", from: []string{image + "other", server.URL + "/good"}, sha256: digest, origin: server.URL + "/good"},
		{name: "the image's is of no use", from: []string{image + "other", image + "good"}, origin: image + "good"},
		{name: "the second server", from: []string{server.URL + "/nowhere", server.URL + "/good"}, origin: server.URL + "/good"},
		{name: "nowhere", from: []string{image + "none", server.URL + "/nowhere"}, cause: resource.CauseAbsent, says: "the image does not have it"},
		{name: "not in the image", from: []string{image + "none"}, cause: resource.CauseAbsent, says: "the image does not have it"},
		{name: "another digest", from: []string{server.URL + "/other"}, sha256: digest, cause: resource.CauseContent, says: "SHA-256"},
		{name: "another archive", from: []string{server.URL + "/other"}, cause: resource.CauseUnpack, says: "has no file kubernetes/node/bin/kubelet"},
		{name: "an empty file", from: []string{server.URL + "/empty"}, cause: resource.CauseUnpack, says: "is empty"},
		{name: "a path outside", from: []string{server.URL + "/outside"}, cause: resource.CauseUnpack, says: "outside"},
		{name: "half an archive", from: []string{server.URL + "/cut"}, cause: resource.CauseUnpack, says: "unexpected EOF"},
		{name: "a page", from: []string{server.URL + "/html"}, cause: resource.CauseContent, says: "text/html"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, root := machineIn(t)
			for name, content := range files {
				place := filepath.Join(root, image, strings.TrimPrefix(name, "/"))
				if err := errors.Join(os.MkdirAll(filepath.Dir(place), 0o755), os.WriteFile(place, content, 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			d := wanted(c.from...)
			d.SHA256, d.Reach.Authorities = c.sha256, authority
			origin, err := m.Download(t.Context(), d, nothing)
			if c.origin == "" {
				if err == nil || causeOf(err) != c.cause || !strings.Contains(err.Error(), c.says) {
					t.Errorf("got %v, cause %q", err, causeOf(err))
				}
				there, err := m.Downloaded(d)
				if there != nil || err != nil || slices.ContainsFunc(inStore(t, root, d), func(name string) bool { return name != partFile }) {
					t.Errorf("is left: %v, %v, %q", there, err, inStore(t, root, d))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wantStored(t, m, root, d, origin, apply.Origin{From: c.origin, SHA256: digest, Checked: c.sha256 != "", Bytes: int64(len(good))})
		})
	}
}

// A program of the store that has another content and the same size is complete, and is found.
func TestChangedProgramOfAStore(t *testing.T) {
	m, root := machineIn(t)
	archived, _ := packed(t, "kubernetes/node/bin/kubelet=kubelet", "kubernetes/node/bin/kubectl=kubectl")
	if err := errors.Join(os.MkdirAll(filepath.Join(root, "opt"), 0o755), os.WriteFile(filepath.Join(root, "opt/k.tgz"), archived, 0o644)); err != nil {
		t.Fatal(err)
	}
	d := wanted("/opt/k.tgz")
	if _, err := m.Download(t.Context(), d, nothing); err != nil {
		t.Fatal(err)
	}
	kubelet := filepath.Join(root, d.Path("kubelet"))
	content, err := os.ReadFile(kubelet)
	if err != nil {
		t.Fatal(err)
	}
	content[0]++
	if err := os.WriteFile(kubelet, content, 0o755); err != nil {
		t.Fatal(err)
	}
	node := integrity.Of(resource.Plan{Resources: []resource.Resource{{Spec: d}}})
	found, err := integrity.Find(m, &node)
	if err != nil || len(found) != 1 || found[0].Path != d.Path("kubelet") || found[0].Kind != integrity.KindProgram {
		t.Errorf("found %v, %v", found, err)
	}
}

// wantStored requires that the store is complete and records the component's origin.
func wantStored(t *testing.T, m *Machine, root string, d *resource.Download, origin *apply.Origin, want apply.Origin) {
	t.Helper()
	again, err := m.Downloaded(d)
	if err != nil || *origin != want || *again != want {
		t.Errorf("got %+v, then %+v, %v; want %+v", origin, again, err, want)
	}
	if got, want := inStore(t, root, d), []string{"kubectl", "kubelet", resource.OriginFile}; !slices.Equal(got, want) {
		t.Errorf("the store has %q, want %q", got, want)
	}
	node := integrity.Of(resource.Plan{Resources: []resource.Resource{{Spec: d}}})
	if found, err := integrity.Find(m, &node); err != nil || len(found) > 0 {
		t.Errorf("what was brought differs from its own record: %v, %v", found, err)
	}
	content, err := os.ReadFile(filepath.Join(root, d.Path("kubelet")))
	info, errStat := os.Stat(filepath.Join(root, d.Path("kubelet")))
	if err := errors.Join(err, errStat); err != nil || string(content) != "the kubelet" || info.Mode() != 0o755 {
		t.Errorf("the kubelet is %q, %v, %v", content, info.Mode(), err)
	}
}

// A download that is cut at every part continues, without a new beginning, if its digest proves that it is the same
// file.
func TestDownloadIsContinued(t *testing.T) {
	noise := make([]byte, 300<<10)
	for i, x := 0, uint32(1); i < len(noise); i++ {
		x = x*1103515245 + 12345
		noise[i] = byte(x >> 24)
	}
	content, digest := packed(t, "kubernetes/node/bin/kubelet="+string(noise))
	for cut := 64 << 10; cut < len(content); cut += 64 << 10 {
		var ranges []string
		ctx, stop := context.WithCancel(t.Context())
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ranges = append(ranges, r.Header.Get("Range"))
			if len(ranges) > 1 {
				http.ServeContent(w, r, "", fixedTime, bytes.NewReader(content))
				return
			}
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			w.Write(content[:cut])
			w.(http.Flusher).Flush()
			for r.Context().Err() == nil { // until the agent has read the data and must end
				if info, err := os.Stat(filepath.Join(ctx.Value(rootKey{}).(string), partFile)); err == nil && info.Size() >= int64(cut) {
					stop()
				}
			}
		}))
		m, root := machineIn(t)
		d := wanted(server.URL + "/k.tar.gz")
		d.SHA256 = digest
		ctx = context.WithValue(ctx, rootKey{}, filepath.Join(root, d.Store()))
		if _, err := m.Download(ctx, d, nothing); err == nil {
			t.Fatalf("cut at %d: no error", cut)
		}
		if there, err := m.Downloaded(d); there != nil || err != nil {
			t.Fatalf("cut at %d: %v, %v", cut, there, err)
		}
		origin, err := m.Download(t.Context(), d, nothing)
		if err != nil || origin.SHA256 != digest || len(ranges) != 2 || ranges[1] != fmt.Sprintf("bytes=%d-", cut) {
			t.Errorf("cut at %d: %+v, %v, ranges %q", cut, origin, err, ranges)
		}
		server.Close()
	}
}

// The component's progress, and the reason of a delay, are reported.
func TestDownloadReports(t *testing.T) {
	content, digest := packed(t, "kubernetes/node/bin/kubelet=the kubelet")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/busy" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if r.URL.Path == "/unmeasured" {
			w.(http.Flusher).Flush()
		} else {
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		}
		w.Write(content)
	}))
	defer server.Close()
	for place, want := range map[string]string{
		"/good":       fmt.Sprintf("%[1]d of %[1]d bytes have come", len(content)),
		"/unmeasured": fmt.Sprintf("%d bytes have come", len(content)),
		"/busy":       "waits: " + server.URL + "/busy: answers 503 Service Unavailable",
	} {
		m, _ := machineIn(t)
		d := wanted(server.URL + place)
		d.SHA256 = digest
		ctx, stop := context.WithCancel(t.Context())
		var said []string
		_, err := m.Download(ctx, d, func(how string) {
			said = append(said, how)
			stop() // no caller waits for the next try
		})
		if (err == nil) != (place != "/busy") || !slices.Equal(said, []string{want}) {
			t.Errorf("%s: %q, %v", place, said, err)
		}
		stop()
	}
}

type rootKey struct{}

var fixedTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Beside the new store, one other store of a component is kept: the last complete one. Incomplete stores are removed.
func TestStoresAreTidied(t *testing.T) {
	m, root := machineIn(t)
	content, _ := packed(t, "kubernetes/node/bin/kubelet=k")
	var stores []*resource.Download
	for i := range 4 {
		place := fmt.Sprintf("/opt/image/%d.tgz", i)
		if err := errors.Join(os.MkdirAll(filepath.Join(root, "opt/image"), 0o755), os.WriteFile(filepath.Join(root, place), content, 0o644)); err != nil {
			t.Fatal(err)
		}
		d := wanted(place)
		if i == 1 {
			d.Component = "kubernetes-other" // it has separate stores
		}
		if _, err := m.Download(t.Context(), d, nothing); err != nil {
			t.Fatal(err)
		}
		at := fixedTime.AddDate(0, 0, i)
		if err := os.Chtimes(filepath.Join(root, d.Path(resource.OriginFile)), at, at); err != nil {
			t.Fatal(err)
		}
		stores = append(stores, d)
	}
	half := wanted("/opt/image/half.tgz")
	if err := errors.Join(os.MkdirAll(filepath.Join(root, half.Store()), 0o755), os.WriteFile(filepath.Join(root, half.Path(partFile)), content, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Download(t.Context(), wanted("/opt/image/0.tgz"), nothing); err != nil {
		t.Fatal(err)
	}
	got, err := m.Stores("kubernetes")
	want := []string{stores[0].Store(), stores[3].Store()}
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if there, err := m.Downloaded(stores[1]); there == nil || err != nil {
		t.Errorf("another component's store is gone: %v", err)
	}
}

// A store with a missing file, or a file of another size, is incomplete.
func TestStoreIsWhole(t *testing.T) {
	m, root := machineIn(t)
	content, _ := packed(t, "kubernetes/node/bin/kubelet=kubelet", "kubernetes/node/bin/kubectl=kubectl")
	if err := errors.Join(os.MkdirAll(filepath.Join(root, "opt"), 0o755), os.WriteFile(filepath.Join(root, "opt/k.tgz"), content, 0o644)); err != nil {
		t.Fatal(err)
	}
	d := wanted("/opt/k.tgz")
	for name, damage := range map[string]func() error{
		"a shorter file":   func() error { return os.Truncate(filepath.Join(root, d.Path("kubelet")), 3) },
		"no file":          func() error { return os.Remove(filepath.Join(root, d.Path("kubectl"))) },
		"a damaged origin": func() error { return os.Truncate(filepath.Join(root, d.Path(resource.OriginFile)), 9) },
		"an origin of none": func() error {
			return os.WriteFile(filepath.Join(root, d.Path(resource.OriginFile)), []byte("{}"), 0o644)
		},
	} {
		if _, err := m.Download(t.Context(), d, nothing); err != nil {
			t.Fatal(err)
		}
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if there, err := m.Downloaded(d); there != nil || err != nil {
			t.Errorf("%s: %v, %v", name, there, err)
		}
	}
}

// A directory unpacks the components that it has, and records, once, what a machine would fetch.
func TestDirectoryDownload(t *testing.T) {
	root := t.TempDir()
	d, err := OpenDirectory(root)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	spec := wanted("/opt/k.tgz", "https://example.invalid/k.tgz")
	for range 2 {
		if _, err := d.Download(t.Context(), spec, nothing); !errors.Is(err, apply.ErrNotProbed) {
			t.Errorf("got %v", err)
		}
	}
	actions, err := os.ReadFile(filepath.Join(root, actionsPath))
	if want := `{"action":"download","label":"kubernetes","argv":["https://example.invalid/k.tgz"]}` + "\n"; err != nil || string(actions) != want {
		t.Errorf("got %q, %v", actions, err)
	}
	content, _ := packed(t, "kubernetes/node/bin/kubelet=kubelet")
	if err := errors.Join(os.MkdirAll(filepath.Join(root, "opt"), 0o755), os.WriteFile(filepath.Join(root, "opt/k.tgz"), content, 0o644)); err != nil {
		t.Fatal(err)
	}
	if origin, err := d.Download(t.Context(), spec, nothing); err != nil || origin.From != "/opt/k.tgz" {
		t.Errorf("got %+v, %v", origin, err)
	}
}

func TestReachedDirectly(t *testing.T) {
	direct := func(u *url.URL, list []string) bool {
		proxy := resource.Hidden{Secret: nodeconfig.NewSecret("http://proxy.example:3128")}
		through, err := proxyFor(&resource.Reach{HTTP: proxy, HTTPS: proxy, Direct: list})(u)
		return through == nil && err == nil
	}
	list := []string{" .internal.example", "example.com", "10.0.0.0/8", "fd00::/8", "192.0.2.7", "proxied.example:8443", "*.star.example", "", "[fd01::1]:443"}
	for place, want := range map[string]bool{
		"https://a.internal.example":   true,
		"https://internal.example":     false,
		"https://example.com":          true,
		"https://EXAMPLE.com.":         true,
		"https://a.example.com/x":      true,
		"https://notexample.com":       false,
		"https://10.1.2.3":             true,
		"https://11.1.2.3":             false,
		"https://[fd00::1]":            true,
		"https://[::ffff:10.1.2.3]":    true,
		"http://192.0.2.7:5000":        true,
		"https://192.0.2.70":           false,
		"https://proxied.example:8443": true,
		"https://proxied.example":      false,
		"https://a.star.example":       true,
		"https://star.example":         false,
		"https://[fd01::1]":            true,
		"https://localhost":            true,
		"https://127.0.0.9":            true,
		"https://other.invalid":        false,
	} {
		u, err := url.Parse(place)
		if err != nil {
			t.Fatal(err)
		}
		if got := direct(u, list); got != want {
			t.Errorf("%s: %v", place, got)
		}
	}
	u := &url.URL{Scheme: "https", Host: "other.invalid"}
	if !direct(u, []string{"*"}) {
		t.Error("* is not all")
	}
	d := &resource.Reach{HTTPS: resource.Hidden{Secret: nodeconfig.NewSecret("http://u:p@proxy.example:3128")}, Direct: list}
	for place, want := range map[string]string{"https://other.invalid": "http://u:p@proxy.example:3128", "http://other.invalid": "", "https://example.com": ""} {
		u, _ := url.Parse(place)
		proxy, err := proxyFor(d)(u)
		if got := fmt.Sprint(proxy); err != nil || (proxy == nil) != (want == "") || want != "" && got != want {
			t.Errorf("%s: %v, %v", place, proxy, err)
		}
	}
}

// nothing ignores the progress.
func nothing(string) {}
