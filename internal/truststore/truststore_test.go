package truststore

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	mrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
)

// disk reads the files of the test's machine.
type disk struct{}

func (disk) Names(dir string) (names []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func (disk) Content(path string) []byte {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	content, _ := os.ReadFile(path)
	if content == nil {
		content = []byte{}
	}
	return content
}

func (disk) Target(path string) string {
	target, _ := os.Readlink(path)
	return target
}

// text is a string of an ASN.1 type.
type text struct {
	tag   int
	value string
}

// name is the DER of a subject, of parts with one attribute or several.
func name(t testing.TB, parts ...[]text) []byte {
	t.Helper()
	var sets []byte
	for i, part := range parts {
		var entries [][]byte
		for j, s := range part {
			kind, err := asn1.Marshal(asn1.ObjectIdentifier{2, 5, 4, 3 + 7*(i%2) + j})
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, encoded(asn1.TagSequence, true, slices.Concat(kind, encoded(s.tag, false, []byte(s.value)))))
		}
		slices.SortFunc(entries, bytes.Compare)
		sets = append(sets, encoded(asn1.TagSet, true, bytes.Join(entries, nil))...)
	}
	return encoded(asn1.TagSequence, true, sets)
}

// odd are subjects that are equal in comparison and differ in their bytes, and others that are not equal.
var odd = [][][]text{
	{{{asn1.TagUTF8String, "Example  Root\tCA"}}},
	{{{asn1.TagPrintableString, " example root ca "}}},
	{{{asn1.TagBMPString, "\x00E\x00x\x00a\x00m\x00p\x00l\x00e\x00 \x00R\x00o\x00o\x00t\x00 \x00C\x00A"}}},
	{{{asn1.TagUTF8String, "Straße ÄÖÜ"}}},
	{{{tagTeletex, "Stra\xdfe \xc4\xd6\xdc"}}},
	{{{asn1.TagBMPString, "\x00S\x00t\x00r\x00a\x00\xdf\x00e\x00 \x00\xc4\x00\xd6\x00\xdc"}}},
	{{{tagUniversal, "\x00\x00\x00A\x00\x01\xf6\x00"}}},
	{{{asn1.TagIA5String, "CA@EXAMPLE.com"}}},
	{{{26, "a VisibleString, which no name has"}}},
	{{{asn1.TagNumericString, " 12 3 "}}}, // compared byte by byte
	{{{asn1.TagUTF8String, ""}}},
	{{{asn1.TagUTF8String, "   "}}},
	{{{asn1.TagUTF8String, "Org"}}, {{asn1.TagPrintableString, "Unit"}}, {{asn1.TagUTF8String, "x\u00a0y"}}},
	{{{asn1.TagUTF8String, "Z"}, {asn1.TagPrintableString, "a"}, {asn1.TagUTF8String, "m"}}},
	{{{asn1.TagUTF8String, "z"}, {asn1.TagUTF8String, "A"}, {asn1.TagIA5String, "M"}}},
	{},
}

// authority is a certificate with a subject.
func authority(t testing.TB, subject []byte, serial int64) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), RawSubject: subject, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Unix(1700000000, 0), NotAfter: time.Unix(4000000000, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// tool is the path of a program of the machine. If it is missing, the test is skipped.
func tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip("this machine has no " + name)
	}
	return path
}

// store is a directory's content.
func store(t testing.TB, spec *resource.TrustStore) Store {
	t.Helper()
	s := Store{Bundle: disk{}.Content(spec.Bundle), Links: make(map[string]string)}
	for _, name := range (disk{}).Names(spec.Links) {
		if target := (disk{}).Target(spec.Links + "/" + name); target != "" {
			s.Links[name] = target
		}
	}
	return s
}

// same compares two stores.
func same(t testing.TB, what string, got, want Store) {
	t.Helper()
	if !bytes.Equal(got.Bundle, want.Bundle) {
		t.Errorf("%s: the bundle has %d bytes, want %d\n%s", what, len(got.Bundle), len(want.Bundle), firstDifference(got.Bundle, want.Bundle))
	}
	for _, name := range slices.Sorted(maps.Keys(want.Links)) {
		if got.Links[name] != want.Links[name] {
			t.Errorf("%s: %s leads to %q, want %q", what, name, got.Links[name], want.Links[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got.Links)) {
		if want.Links[name] == "" {
			t.Errorf("%s: %s leads to %q, and the tool makes no such link", what, name, got.Links[name])
		}
	}
}

func firstDifference(a, b []byte) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("at %d: %.60q, want %.60q", i, a[i:], b[i:])
}

// machine is a Debian machine below a directory, with packages of unusual certificates.
func machine(t testing.TB, root string) *resource.TrustStore {
	t.Helper()
	spec := &resource.TrustStore{
		Label: "x", Bundle: root + "/etc/ssl/certs/ca-certificates.crt", Anchors: root + "/usr/local/share/ca-certificates",
		Packages: root + "/usr/share/ca-certificates", Selection: root + "/etc/ca-certificates.conf", Links: root + "/etc/ssl/certs",
	}
	selection := []string{"# comment", ""}
	for i := range odd {
		name := fmt.Sprintf("own/Odd (%d), CA.crt", i)
		write(t, spec.Packages+"/"+name, authority(t, nameOf(t, i), int64(i+1)))
		selection = append(selection, name)
	}
	selection[len(selection)-1] = "!" + selection[len(selection)-1]
	selection = append(selection, "own/not there.crt", "  mozilla/none  ")
	write(t, spec.Selection, []byte(strings.Join(selection, "\n")+"\n"))
	for _, dir := range []string{spec.Anchors, spec.Links, root + "/hooks"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return spec
}

func nameOf(t testing.TB, i int) []byte { return name(t, odd[i%len(odd)]...) }

// update runs Debian's tool on a machine below a directory.
func update(t testing.TB, spec *resource.TrustStore, root string) {
	t.Helper()
	command := exec.Command(tool(t, "update-ca-certificates"), "--fresh", "--certsconf", spec.Selection, "--certsdir", spec.Packages,
		"--localcertsdir", spec.Anchors, "--etccertsdir", spec.Links, "--hooksdir", root+"/hooks")
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C"}
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

// The bundle and the links equal those of update-ca-certificates, over Debian's real certificates and over unusual
// ones: also after certificates were added, removed and changed, and beside an administrator's files and links.
func TestSameAsUpdateCACertificates(t *testing.T) {
	tool(t, "update-ca-certificates")
	tool(t, "openssl")
	root := t.TempDir()
	spec := machine(t, root)
	anchor := func(name string) string { return spec.Anchors + "/" + name }
	serial := int64(1000)
	next := func(i int) []byte { serial++; return authority(t, nameOf(t, i), serial) }
	first := next(0)
	link := func(name, target string) {
		if err := os.Symlink(target, spec.Links+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	update(t, spec, root)
	rounds := []struct {
		what   string
		change func()
	}{
		{"one has come", func() { write(t, anchor("slipway-00.crt"), first) }},
		{"many have come", func() {
			write(t, anchor("slipway-01.crt"), next(1)) // the same subject
			write(t, anchor("A.crt"), next(2))
			write(t, anchor("zz-duplicate.crt"), first)
			write(t, anchor("b.crt"), bytes.TrimSuffix(next(3), []byte("\n")))
			write(t, anchor("crlf.crt"), bytes.ReplaceAll(next(4), []byte("\n"), []byte("\r\n")))
			write(t, anchor("several.crt"), slices.Concat(next(5), next(6)))
			write(t, anchor("text.crt"), []byte("hello"))
			write(t, anchor("empty.crt"), nil)
			write(t, anchor("other.pem"), next(7))
			write(t, anchor("sub dir/deep (1).crt"), next(8))
			write(t, anchor("text-around.crt"), slices.Concat([]byte("subject=x\n\n"), next(9), []byte("end\n")))
			for i := range odd {
				write(t, anchor(fmt.Sprintf("odd%d.crt", i)), next(i))
			}
		}},
		{"files and links of an administrator's", func() {
			write(t, spec.Links+"/own.pem", next(0))
			write(t, spec.Links+"/own.txt", next(0))
			write(t, root+"/elsewhere.crt", next(3))
			link("foreign.pem", root+"/elsewhere.crt")
			link("dangling.pem", root+"/nowhere")
			link("chain.pem", "foreign.pem")
		}},
		{"one is gone and one has changed", func() {
			os.Remove(anchor("slipway-00.crt"))
			write(t, anchor("slipway-01.crt"), next(12))
		}},
		{"all are gone", func() { os.RemoveAll(spec.Anchors) }},
	}
	for _, r := range rounds {
		r.change()
		got := Of(disk{}, spec)
		update(t, spec, root)
		same(t, r.what, got, store(t, spec))
		same(t, r.what+", again", Of(disk{}, spec), store(t, spec))
	}
}

// A subject has the hash by which openssl finds it.
func TestSameHashAsOpenSSL(t *testing.T) {
	openssl := tool(t, "openssl")
	source := mrand.New(mrand.NewPCG(1, 2))
	tags := []int{asn1.TagUTF8String, asn1.TagPrintableString, asn1.TagIA5String, tagTeletex, asn1.TagBMPString, tagUniversal, asn1.TagNumericString}
	subjects := make([][][]text, 0, 150)
	subjects = append(subjects, odd...)
	for range 200 {
		var parts [][]text
		for range source.IntN(4) {
			var part []text
			for range 1 + source.IntN(3) {
				s := text{tag: tags[source.IntN(len(tags))]}
				for range source.IntN(8) {
					c := "aZ \t\r\v\xe9'.0"[source.IntN(10)]
					switch s.tag {
					case asn1.TagBMPString:
						s.value += string([]byte{byte(source.IntN(2)), c})
					case tagUniversal:
						s.value += string([]byte{0, 0, byte(source.IntN(2)), c})
					case asn1.TagUTF8String:
						s.value += string(rune(c))
					case tagTeletex:
						s.value += string([]byte{c})
					default:
						s.value += string([]byte{c & 0x7f})
					}
				}
				part = append(part, s)
			}
			parts = append(parts, part)
		}
		subjects = append(subjects, parts)
	}
	dir := t.TempDir()
	certificates := make(map[string][]byte)
	for i, parts := range subjects {
		file := fmt.Sprintf("%03d.pem", i)
		certificates[file] = authority(t, name(t, parts...), int64(i+1))
		write(t, filepath.Join(dir, file), certificates[file])
	}
	_ = exec.Command(openssl, "rehash", dir).Run() // it fails for files that it cannot read
	want := make(map[string]string)
	for _, link := range (disk{}).Names(dir) {
		if target := (disk{}).Target(dir + "/" + link); target != "" {
			want[target], _, _ = strings.Cut(link, ".")
		}
	}
	if len(want) < len(odd) {
		t.Fatalf("openssl reads %d of %d certificates", len(want), len(certificates))
	}
	for file, certificate := range certificates {
		got := ""
		if hash, err := subjectHash(onlyCertificate(certificate)); err == nil {
			got = fmt.Sprintf("%08x", hash)
		}
		if got != want[file] {
			t.Errorf("%s: %q, and openssl has %q", file, got, want[file])
		}
	}
}

// A bundle that only the distribution's tool builds gets the missing certificates, each once, and keeps the rest.
func TestAddToBundle(t *testing.T) {
	root := t.TempDir()
	first, second := authority(t, nameOf(t, 0), 1), authority(t, nameOf(t, 3), 2)
	spec := &resource.TrustStore{Label: "x", Bundle: root + "/bundle.pem", Anchors: root + "/anchors", Added: []string{root + "/anchors/1.crt", root + "/anchors/2.crt"}}
	write(t, spec.Added[0], first)
	write(t, spec.Added[1], second)
	for had, want := range map[string]string{
		"":                             string(first) + string(second),
		"# comment\n" + string(second): "# comment\n" + string(second) + string(first),
		"no last newline":              "no last newline\n" + string(first) + string(second),
		string(first) + string(second): string(first) + string(second),
	} {
		write(t, spec.Bundle, []byte(had))
		if got := Of(disk{}, spec); string(got.Bundle) != want || len(got.Links) > 0 {
			t.Errorf("%.20q: %d links, %.40q, want %.40q", had, len(got.Links), got.Bundle, want)
		}
	}
}

// On Flatcar the bundle has the links' targets, in the order of their names.
func TestFlatcarStore(t *testing.T) {
	root := t.TempDir()
	spec := &resource.TrustStore{Label: "x", Bundle: root + "/certs/ca-certificates.crt", Anchors: root + "/certs", Links: root + "/certs"}
	packages, own := authority(t, nameOf(t, 0), 1), authority(t, nameOf(t, 1), 2) // with the same hash
	other := authority(t, nameOf(t, 3), 3)
	write(t, root+"/usr/package.pem", packages)
	write(t, spec.Links+"/slipway-1.pem", own)
	write(t, spec.Links+"/slipway-2.pem", other)
	write(t, spec.Bundle, slices.Concat(packages, other))
	for name, target := range map[string]string{"package.pem": root + "/usr/package.pem", "0badc0de.0": "package.pem"} {
		if err := os.Symlink(target, spec.Links+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	hash, err := subjectHash(onlyCertificate(own))
	if err != nil {
		t.Fatal(err)
	}
	last, err := subjectHash(onlyCertificate(other))
	if err != nil {
		t.Fatal(err)
	}
	links := map[string]string{
		"package.pem": root + "/usr/package.pem", fmt.Sprintf("%08x.0", hash): "package.pem", fmt.Sprintf("%08x.1", hash): "slipway-1.pem", fmt.Sprintf("%08x.0", last): "slipway-2.pem",
	}
	bundle := slices.Concat(packages, own, other)
	if last < hash {
		bundle = slices.Concat(other, packages, own)
	}
	same(t, "flatcar", Of(disk{}, spec), Store{bundle, links})
}

// Whatever a certificate's bytes are, the search for its subject ends with a result or an error.
func FuzzSubjectHash(f *testing.F) {
	for i := range odd {
		f.Add(onlyCertificate(authority(f, nameOf(f, i), 1)))
	}
	f.Add([]byte{0x30, 0x80})
	f.Fuzz(func(t *testing.T, der []byte) {
		if first, err := subjectHash(der); err == nil {
			if again, _ := subjectHash(der); first != again {
				t.Errorf("%08x, then %08x", first, again)
			}
		}
	})
}
