package supportbundle_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/supportbundle"
)

var created = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// written is a bundle of some files.
func written(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := supportbundle.NewWriter(&out, "v1", created)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range files {
			if !yield(name) {
				return
			}
		}
	}) {
		if err := w.Add(supportbundle.File{Name: name, Source: "file /" + name, Why: "test", Redactions: 2}, []byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	w.Missing("journal of kubelet.service", "has no records")
	if _, err := w.Close(time.Second, "a note"); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var some = map[string]string{
	"facts.json": "{}\n", "journal/kubelet.service.json": strings.Repeat(`{"MESSAGE":"x"}`+"\n", 1000),
	"files/var/log" + strings.Repeat("/long", 40) + "/é": "text", "files/empty": "",
}

func TestRoundTrip(t *testing.T) {
	data := written(t, some)
	if again := written(t, some); !bytes.Equal(data, again) {
		t.Error("the same files give other bytes")
	}
	b, err := supportbundle.Open(bytes.NewReader(data))
	if err != nil || len(b.Problems) > 0 {
		t.Fatal(err, b.Problems)
	}
	for name, want := range some {
		if got, ok := b.Read(name); !ok || string(got) != want {
			t.Errorf("%s: %v, %d bytes", name, ok, len(got))
		}
	}
	m := b.Manifest
	if len(b.Names()) != len(some) || len(m.Files) != len(some) || m.Slipway != "v1" || !m.Created.Equal(created) || m.DurationMs != 1000 ||
		!slices.Equal(m.Notes, []string{"a note"}) || m.Missing[0] != (supportbundle.Missing{Source: "journal of kubelet.service", Reason: "has no records"}) {
		t.Errorf("%q, %+v", b.Names(), m)
	}
	if f := m.Files[0]; f.Name != "facts.json" || f.Size != 3 || f.SHA256 != supportbundle.Digest([]byte("{}\n")) || f.Redactions != 2 {
		t.Errorf("%+v", f)
	}
}

// A bundle that is cut anywhere gives the files before the cut and says so, or is refused if its first member is cut.
func TestCut(t *testing.T) {
	data, read := written(t, some), 0
	for n := range len(data) {
		b, err := supportbundle.Open(bytes.NewReader(data[:n]))
		switch {
		case err != nil && !strings.Contains(err.Error(), "is not a support bundle"):
			t.Fatalf("%d: %v", n, err)
		case err != nil:
		case len(b.Problems) == 0 && len(b.Names()) < len(some):
			t.Fatalf("%d: %q without a problem", n, b.Names())
		default:
			read = max(read, len(b.Names()))
			for _, name := range b.Names() {
				if got, _ := b.Read(name); string(got) != some[name] {
					t.Fatalf("%d: %s is %q", n, name, got)
				}
			}
		}
	}
	if read != len(some) {
		t.Errorf("a cut bundle gives at most %d files", read)
	}
}

// A wrong bit is an error or a problem, or changes nothing.
func TestDamage(t *testing.T) {
	data := written(t, some)
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 1 << (i % 8)
		b, err := supportbundle.Open(bytes.NewReader(damaged))
		if err != nil {
			continue
		}
		for _, name := range b.Names() {
			if got, _ := b.Read(name); string(got) != some[name] && len(b.Problems) == 0 {
				t.Fatalf("byte %d: %s is %q, without a problem", i, name, got)
			}
		}
	}
}

const format = `{"apiVersion":"slipway.dev/v1","kind":"SupportBundle","version":1,"slipway":"v1"}`

// packed is an archive that no writer of bundles makes.
func packed(t testing.TB, headers ...tar.Header) io.Reader {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	w := tar.NewWriter(zip)
	for _, h := range headers {
		content := h.Uname // a header has no content
		h.Uname, h.Mode, h.Size = "", 0o600, int64(len(content))
		if h.Typeflag != 0 && h.Typeflag != tar.TypeReg {
			h.Size, content = 0, ""
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return &out
}

func TestHostile(t *testing.T) {
	head := tar.Header{Name: supportbundle.FormatName, Uname: format}
	for want, headers := range map[string][]tar.Header{
		"want format.json as its first member":            {{Name: "facts.json", Uname: "{}"}},
		"does not name slipway.dev/v1 SupportBundle":      {{Name: supportbundle.FormatName, Uname: "{}"}},
		"reads up to version 1: use a newer slipway":      {{Name: supportbundle.FormatName, Uname: strings.Replace(format, `"version":1`, `"version":2`, 1)}},
		`"../x", which is not a plain path within it`:     {head, {Name: "../x"}},
		`"/etc/x", which is not a plain path within it`:   {head, {Name: "/etc/x"}},
		`"a/../../x", which is not a plain path`:          {head, {Name: "a/../../x"}},
		`"a\x1b[31m", whose name has characters`:          {head, {Name: "a\x1b[31m"}},
		`"a" that is not a regular file`:                  {head, {Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/etc/shadow"}},
		`two members "a"`:                                 {head, {Name: "a"}, {Name: "a"}},
		"unpacks to more than a bundle may have, with \"": {head, {Name: "a", Uname: strings.Repeat("\x00", supportbundle.MaxFile+1)}},
		"a name of 256 bytes":                             {head, {Name: strings.Repeat("a", 256)}},
	} {
		if b, err := supportbundle.Open(packed(t, headers...)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", want, b, err)
		}
	}
	if _, err := supportbundle.Open(strings.NewReader("plain text")); err == nil || !strings.Contains(err.Error(), "is not a support bundle: want a .tar.gz file") {
		t.Error(err)
	}
}

// More members, or more bytes, than a bundle may have are refused before they take memory.
func TestLimits(t *testing.T) {
	head := tar.Header{Name: supportbundle.FormatName, Uname: format}
	many := []tar.Header{head}
	for i := range supportbundle.MaxFiles + 2 {
		many = append(many, tar.Header{Name: fmt.Sprint(i)})
	}
	large := []tar.Header{head}
	for i := range 10 {
		large = append(large, tar.Header{Name: fmt.Sprint(i), Uname: strings.Repeat("\x00", supportbundle.MaxFile)})
	}
	for want, headers := range map[string][]tar.Header{"has more than 4096 members": many, "unpacks to more than": large} {
		if _, err := supportbundle.Open(packed(t, headers...)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// What the manifest does not vouch for is left out.
func TestManifestVouches(t *testing.T) {
	head := tar.Header{Name: supportbundle.FormatName, Uname: format}
	manifest := `{"files":[{"name":"a","sha256":"sha256:0"},{"name":"gone"}]}`
	b, err := supportbundle.Open(packed(t, head, tar.Header{Name: "a", Uname: "changed"}, tar.Header{Name: "b", Uname: "added"}, tar.Header{Name: supportbundle.ManifestName, Uname: manifest}))
	if err != nil || len(b.Names()) != 0 {
		t.Fatal(err, b)
	}
	want := []string{
		`"a" is not what the manifest says: it has another digest, and is left out`,
		`"gone" is in the manifest and not in the bundle`,
		`"b" is not in the manifest, and is left out`,
	}
	if !slices.Equal(b.Problems, want) {
		t.Errorf("%q", b.Problems)
	}
}

// A writer refuses what a reader would.
func TestWriterLimits(t *testing.T) {
	w, err := supportbundle.NewWriter(io.Discard, "v1", created)
	if err != nil {
		t.Fatal(err)
	}
	large := make([]byte, supportbundle.MaxFile+1)
	for name, content := range map[string][]byte{"/a": nil, "a/../b": nil, "": nil, supportbundle.ManifestName: nil, supportbundle.FormatName: nil, "a\n": nil, "a": large} {
		if w.Add(supportbundle.File{Name: name}, content) == nil {
			t.Errorf("%q with %d bytes is added", name, len(content))
		}
	}
	for i := 0; w.Left() > 0; i++ {
		if err := w.Add(supportbundle.File{Name: fmt.Sprint(i)}, large[1:]); err != nil {
			t.Fatal(err)
		}
	}
	if w.Add(supportbundle.File{Name: "more"}, []byte("x")) == nil {
		t.Error("there is no limit of all files")
	}
}

func TestSafeName(t *testing.T) {
	for name, want := range map[string]string{
		"files/var/log/é": "files/var/log/é", "a\nb": "a%0Ab", "a\x1b": "a%1B", "\xff%": "%FF%25", "a\u202eb": "a%E2%80%AEb",
	} {
		if got := supportbundle.SafeName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func FuzzOpen(f *testing.F) {
	whole := written(f, some)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	evil, err := io.ReadAll(packed(f, tar.Header{Name: supportbundle.FormatName, Uname: format}, tar.Header{Name: "../x"}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(evil)
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := supportbundle.Open(bytes.NewReader(data))
		if err != nil {
			return
		}
		total := 0
		for _, name := range b.Names() {
			content, ok := b.Read(name)
			if !ok || strings.HasPrefix(name, "/") || strings.Contains("/"+name+"/", "/../") {
				t.Errorf("%q: %v", name, ok)
			}
			total += len(content)
		}
		if total > supportbundle.MaxBytes+8<<20 {
			t.Errorf("unpacks %d bytes", total)
		}
	})
}
