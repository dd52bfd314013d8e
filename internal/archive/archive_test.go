package archive_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/archive"
)

// contents are the files of an archive, each with its name and content, or the error of reading it.
func contents(data []byte) (list []string, err error) {
	err = archive.Files(bytes.NewReader(data), func(f archive.File) error {
		content, err := io.ReadAll(f)
		if err != nil {
			content = []byte(err.Error())
		}
		list = append(list, fmt.Sprintf("%s %d %q", f.Name, f.Size, content))
		return nil
	})
	return list, err
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Archives of dpkg-deb, rpmbuild and GNU tar.
func TestFiles(t *testing.T) {
	const long = "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
	packaged := []string{`usr/bin/hyperkube 0 "is a link, and no file"`, `usr/bin/kubelet 26 "\x7fELF kubelet of a package\n"`}
	node := []string{`kubernetes/node/bin/kubectl 13 "\x7fELF kubectl\n"`, `kubernetes/node/bin/kubelet 26 "\x7fELF kubelet of a package\n"`}
	named := append([]string{long + "/" + long + `/long 2 "x\n"`}, node...)
	for name, want := range map[string][]string{
		"kubelet-gzip.deb": packaged, "kubelet-xz.deb": packaged, "kubelet-zstd.deb": packaged, "kubelet-none.deb": packaged,
		"kubelet-gzdio.rpm": packaged, "kubelet-xzdio.rpm": packaged, "kubelet-zstdio.rpm": packaged,
		"node-gnu.tar.gz": named, "node-pax.tar.gz": named, "node-ustar.tar.gz": node,
	} {
		got, err := contents(read(t, name))
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, got\n%s\nwant\n%s", name, err, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for _, format := range []string{"gnu", "0.0", "0.1", "1.0"} {
		got, err := contents(read(t, "sparse-"+format+".tar.gz"))
		want := fmt.Sprintf("%s %d %q", "holes", 1<<20+5, strings.Repeat("\x00", 1<<19)+"middle"+strings.Repeat("\x00", 1<<19-6)+"end\n\x00")
		if err != nil || !slices.Equal(got, []string{want}) {
			t.Errorf("sparse, %s: %v, %d files", format, err, len(got))
		}
	}
	if got, err := contents([]byte("\x7fELF alone")); err != nil || !slices.Equal(got, []string{` -1 "\x7fELF alone"`}) {
		t.Errorf("a program: %q, %v", got, err)
	}
}

// If use has what it needs, no more is read. If use fails, Files returns its error.
func TestStop(t *testing.T) {
	mine := errors.New("mine")
	for _, ends := range []error{archive.ErrStop, mine} {
		calls := 0
		err := archive.Files(bytes.NewReader(read(t, "node-ustar.tar.gz")), func(archive.File) error { calls++; return ends })
		if calls != 1 || errors.Is(ends, mine) != errors.Is(err, mine) || errors.Is(err, archive.ErrStop) {
			t.Errorf("%v: %d calls, %v", ends, calls, err)
		}
	}
}

// An archive that ends early, or has a wrong bit, is an error, or gives the right content. If its format has a checksum
// of the content, it never gives any other.
func TestDamage(t *testing.T) {
	for _, name := range []string{"kubelet-gzip.deb", "kubelet-xz.deb", "kubelet-zstd.deb", "kubelet-xzdio.rpm", "kubelet-zstdio.rpm", "node-pax.tar.gz"} {
		whole := read(t, name)
		want, err := contents(whole)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(whole); n += 1 + len(whole)/300 {
			if got, err := contents(whole[:n]); err == nil && !slices.Equal(got, want) {
				t.Errorf("%s, cut at %d: %q", name, n, got)
			}
			flipped := bytes.Clone(whole)
			flipped[n] ^= 1 << (n % 8)
			if got, err := contents(flipped); err == nil && !slices.Equal(got, want) && name != "kubelet-zstd.deb" {
				t.Errorf("%s, another bit at %d: %q", name, n, got)
			}
		}
	}
}

func TestXZ(t *testing.T) {
	for name, want := range map[string]string{
		"lines.xz":        "lines",
		"lines-blocks.xz": "lines",
		"lines-lp.xz":     "lines",
		"lines-x86.xz":    "lines",
		"noise.xz":        "noise",
	} {
		data := read(t, name)
		got, err := archive.Decompress(bytes.NewReader(data))
		if err != nil || sha256.Sum256(got) != sha256.Sum256(sample(want)) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		for n := range data {
			flipped := bytes.Clone(data)
			flipped[n] ^= 1 << (n % 8)
			if n%97 == 7 && name != "noise.xz" { // noise.xz has no checksum of its content
				if _, err := archive.Decompress(bytes.NewReader(flipped)); err == nil {
					t.Errorf("%s: another bit at %d is no error", name, n)
				}
				if _, err := archive.Decompress(bytes.NewReader(data[:n])); err == nil {
					t.Errorf("%s: the end at %d is no error", name, n)
				}
			}
		}
		if _, err := archive.Decompress(bytes.NewReader(append(bytes.Clone(data), 0))); err == nil {
			t.Errorf("%s: something after the end is no error", name)
		}
	}
}

// sample is the source of the xz files.
func sample(name string) []byte {
	var b bytes.Buffer
	if name == "lines" {
		for n := range 4000 {
			fmt.Fprintln(&b, "line", n, "squared", n*n)
		}
		return b.Bytes()
	}
	for x, n := uint32(1), 0; n < 5000; n++ {
		x = x*1103515245 + 12345
		b.WriteByte(byte(x >> 24))
	}
	return b.Bytes()
}

// header is a tar header.
func header(name string, kind byte, size string) []byte {
	b := make([]byte, 512)
	copy(b, name)
	copy(b[124:], size)
	b[156] = kind
	copy(b[257:], "ustar\x0000")
	copy(b[148:], "        ")
	sum := 0
	for _, c := range b {
		sum += int(c)
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", sum))
	return b
}

func block(text string) []byte { return append([]byte(text), make([]byte, 512-len(text))...) }

// pax is a header of a kind with records, each a key and a value.
func pax(kind byte, records ...string) []byte {
	var all string
	for i := 0; i < len(records); i += 2 {
		text := " " + records[i] + "=" + records[i+1] + "\n"
		all += fmt.Sprint(len(text)+2) + text
	}
	return append(header("a", kind, fmt.Sprintf("%o", len(all))), block(all)...)
}

// sparse is a file of a size that is a hole except for its end, as GNU tar writes one with pax (version 1.0 of its
// formats).
func sparse(size string) [][]byte {
	records := []string{"GNU.sparse.major", "1", "GNU.sparse.minor", "0", "GNU.sparse.name", "a", "GNU.sparse.realsize", size}
	return [][]byte{pax('x', records...), header("a", '0', "1000"), block("1\n" + size + "\n0\n")}
}

// sparseOf is a file of one byte after a header of a kind with records.
func sparseOf(kind byte, records ...string) []byte {
	return slices.Concat(pax(kind, records...), header("a", '0', "1"), block("x"))
}

func cpioHeader(name string, mode, links, size int) []byte {
	b := fmt.Appendf(nil, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00", 0, mode, 0, 0, links, 0, size, 0, 0, 0, 0, len(name)+1, 0, name)
	return append(b, make([]byte, (4-len(b)%4)%4)...)
}

// cpioSummed is a file of one byte, in the format with checksums, which are the sum of the bytes.
func cpioSummed(name string, content, sum byte) []byte {
	b := cpioHeader(name, 0o100644, 1, 1)
	copy(b, "070702")
	copy(b[102:], fmt.Sprintf("%08x", sum))
	return append(b, content, 0, 0, 0)
}

// rpmDigests is a package of one file with the SHA-256 of its second header and of its payload, or without empty ones.
func rpmDigests(header, payload string) string {
	head := func(tag uint32, digest string) []byte {
		b := append([]byte("\x8e\xad\xe8\x01"), make([]byte, 12)...)
		if digest != "" {
			b[11], b[15] = 1, byte(len(digest)+1)
			b = binary.BigEndian.AppendUint32(b, tag)
			b = append(b, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 1)
			b = append(append(b, digest...), 0)
		}
		return b
	}
	first := head(273, header)
	first = append(first, make([]byte, (8-len(first)%8)%8)...)
	return string(slices.Concat([]byte("\xed\xab\xee\xdb"), make([]byte, 92), first, head(5092, payload),
		cpioHeader("a", 0o100644, 1, 0), cpioHeader("TRAILER!!!", 0, 1, 0)))
}

// rpmOf is a package with a payload.
func rpmOf(payload ...[]byte) []byte {
	head := append([]byte("\x8e\xad\xe8\x01"), make([]byte, 12)...)
	return slices.Concat([]byte("\xed\xab\xee\xdb"), make([]byte, 92), head, head, slices.Concat(payload...))
}

func debOf(name string, data []byte) []byte {
	member := func(name string, data []byte) []byte {
		return append(fmt.Appendf(nil, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", name, 0, 0, 0, 0o644, len(data)), append(data, make([]byte, len(data)%2)...)...)
	}
	return slices.Concat([]byte("!<arch>\n"), member("debian-binary", []byte("2.0\n")), member(name, data))
}

// zeros is a gzip of a tar with a member of that many bytes.
func zeros(t *testing.T, size int64) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	z.Write(header("bomb", '0', fmt.Sprintf("%011o", min(size, 1<<30))))
	if _, err := io.CopyN(z, zero{}, size); err != nil {
		t.Fatal(err)
	}
	z.Close()
	return b.Bytes()
}

type zero struct{}

func (zero) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// lzmaAlone is the beginning of the output of xz --format=lzma: properties, the size of the dictionary, an unknown
// size, and the first byte of the data.
const lzmaAlone = "\x5d\x00\x00\x80\x00\xff\xff\xff\xff\xff\xff\xff\xff\x00"

// xzDictionary is the beginning of an xz stream that needs a dictionary of a size (The .xz File Format, 5.3.1).
func xzDictionary(size byte) string {
	stream := binary.LittleEndian.AppendUint32([]byte("\xfd7zXZ\x00\x00\x00"), crc32.ChecksumIEEE([]byte{0, 0}))
	block := []byte{2, 0, 0x21, 1, size, 0, 0, 0}
	return string(append(stream, binary.LittleEndian.AppendUint32(block, crc32.ChecksumIEEE(block))...)) + strings.Repeat("\x00", 64)
}

// hostile are archives that no packer creates, with a part of the error of each.
func hostile() map[string][2]string {
	end := string(make([]byte, 1024))
	tar := func(members ...[]byte) string { return string(slices.Concat(members...)) + end }
	many := strings.Repeat(string(header("a", '0', "0")), 20_001)
	return map[string][2]string{
		"nothing":              {"", "neither an archive"},
		"HTML":                 {"<!DOCTYPE html><html>", "neither an archive"},
		"a zip":                {"PK\x03\x04 and more", "neither an archive"},
		"bzip2":                {"BZh91AY&SY", "is compressed by bzip2"},
		"lzma":                 {lzmaAlone, "is compressed by lzma, which is not read: pack it with gzip, zstd or xz"},
		"an RPM of lzma":       {string(rpmOf([]byte(lzmaAlone))), "is compressed by lzma"},
		"a deb of lzma":        {string(debOf("data.tar.lzma", []byte(lzmaAlone))), "data.tar.lzma: is compressed by lzma"},
		"a path outside":       {tar(header("../etc/passwd", '0', "0")), "outside"},
		"a path further in":    {tar(header("a/../../b", '0', "0")), "outside"},
		"an absolute path":     {tar(header("/etc/passwd", '0', "0")), "outside"},
		"a directory outside":  {tar(header("../a/", '5', "0")), "outside"},
		"a link's name":        {tar(header("../a", '2', "0")), "outside"},
		"a device":             {tar(header("null", '3', "0")), "neither a file nor a directory"},
		"a pipe":               {tar(header("pipe", '6', "0")), "neither a file nor a directory"},
		"a name of nothing":    {tar(header("", '0', "0")), "for the name"},
		"a size below nothing": {tar(header("a", '0', "-1")), "invalid tar header"},
		"a size not in octal":  {tar(header("a", '0', "99999999999")), "invalid tar header"},
		"a size of GNU's":      {tar(header("a", '0', "\x80\x00\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff")), "unpacks to more than"},
		"a large header":       {tar(header("a", 'x', "77777777")), "unexpected EOF"},
		"a record of pax":      {tar(header("a", 'x', "5"), append([]byte("9 a=b"), make([]byte, 507)...)), "invalid tar header"},
		"a damaged sparse map": {tar(header("a", 'x', "24"), append([]byte("24 GNU.sparse.map=aaaaa\n"), make([]byte, 488)...), header("a", '0', "0")), "invalid tar header"},
		"a hole without end":   {tar(sparse("1099511627776")...), "unpacks to more than"},
		"a wrong checksum":     {"x" + tar(header("a", '0', "0"))[1:], "invalid tar header"},
		"an end too early":     {string(header("a", '0', "1000")), "unexpected EOF"},
		"an end after a file":  {string(header("a", '0', "0")), "unexpected EOF"},
		"an end after records": {string(pax('x', "path", "a")), "unexpected EOF"},
		"holes of version 2":   {tar(sparseOf('x', "GNU.sparse.major", "2", "GNU.sparse.minor", "0", "GNU.sparse.name", "a")), "sparse"},
		"holes of half":        {tar(sparseOf('x', "GNU.sparse.minor", "1", "GNU.sparse.map", "0,1", "GNU.sparse.numblocks", "1")), "sparse"},
		"holes without a map":  {tar(sparseOf('x', "GNU.sparse.size", "100", "GNU.sparse.numblocks", "1")), "sparse"},
		"holes with a name":    {tar(sparseOf('x', "GNU.sparse.name", "b")), "sparse"},
		"holes for all":        {tar(sparseOf('g', "GNU.sparse.major", "1", "GNU.sparse.minor", "0")), "sparse"},
		"an end after a pad":   {string(append(header("a", '0', "1"), make([]byte, 512)...)), "unexpected EOF"},
		"too many members":     {many, "members"},
		"no Debian package":    {"!<arch>\n" + strings.Repeat(" ", 58) + "`\n", "damaged"},
		"another ar":           {"!<arch>\nx.o/            0           0     0     644     0         `\n", "no Debian package"},
		"a deb of no tar":      {string(debOf("data.tar", []byte("text"))), "is no tar"},
		"a deb outside":        {string(debOf("data.tar", []byte(tar(header("../a", '0', "0"))))), "outside"},
		"a deb without data":   {string(debOf("control.tar", nil)), "no payload"},
		"a damaged RPM":        {"\xed\xab\xee\xdb" + strings.Repeat("\x00", 200), "a header is damaged"},
		"an RPM outside":       {string(rpmOf(cpioHeader("../../etc/x", 0o100644, 1, 0))), "outside"},
		"an RPM with a device": {string(rpmOf(cpioHeader("dev/null", 0o020666, 1, 0))), "neither a file nor"},
		"an RPM with a bomb":   {string(rpmOf(cpioHeader("a", 0o100644, 1, 0xffffffff))), "unpacks to more than"},
		"an RPM of less":       {strings.Replace(string(rpmOf(cpioHeader("a", 0o100644, 1, 0xfffffff))), "0fffffff", "-0000001", 1), "a size of -1"},
		"an RPM of a header":   {string(rpmOf(cpioHeader("a", 0o100644, 1, 0)[:110])), "unexpected EOF"},
		"an RPM without a pad": {string(rpmOf(cpioHeader("abcdefghijkl", 0o100644, 1, 0)[:123])), "unexpected EOF"},
		"an RPM with a sum":    {string(rpmOf(cpioSummed("a", 'x', 'y'), cpioHeader("TRAILER!!!", 0, 1, 0))), "the checksum of \"a\" is wrong"},
		"another payload":      {rpmDigests("", strings.Repeat("0", 64)), "of its payload is wrong"},
		"another header":       {rpmDigests(strings.Repeat("0", 64), ""), "of its header is wrong"},
		"an RPM without end":   {string(rpmOf(cpioHeader("a", 0o100644, 1, 0))), "unexpected EOF"},
		"an RPM of long names": {strings.Replace(string(rpmOf(cpioHeader("a", 0o100644, 1, 0))), "00000002", "7fffffff", 1), "a header is damaged"},
		"an RPM that is cut":   {string(rpmOf(cpioHeader("a", 0o100644, 1, 100))), "unexpected EOF"},
		"an RPM of old":        {string(rpmOf([]byte("070707" + strings.Repeat("0", 200)))), "new ASCII format"},
		"xz of nothing":        {"\xfd7zXZ\x00", "truncated"},
		"xz of much memory":    {xzDictionary(29), "dictionary size exceeds max"}, // 96 MiB
	}
}

func TestHostile(t *testing.T) {
	for name, c := range hostile() {
		if got, err := contents([]byte(c[0])); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %q, %v; want an error with %q", name, got, err, c[1])
		}
	}
	// Of a file with two names in an RPM, the first is like a link.
	got, err := contents(rpmOf(cpioHeader("a", 0o100755, 2, 0), cpioHeader("b", 0o100755, 2, 0), cpioHeader("TRAILER!!!", 0, 1, 0)))
	if err != nil || len(got) != 2 || !strings.Contains(got[0], "link") {
		t.Errorf("two names: %q, %v", got, err)
	}
	for name, data := range map[string]string{
		"cpio's":   string(rpmOf(cpioSummed("a", 'x', 'x'), cpioHeader("TRAILER!!!", 0, 1, 0))),
		"no RPM's": rpmDigests("", ""),
	} {
		if got, err := contents([]byte(data)); err != nil || len(got) != 1 {
			t.Errorf("%s checksum: %q, %v", name, got, err)
		}
	}
}

func TestBomb(t *testing.T) {
	if testing.Short() {
		t.Skip("unpacks more than 2 GiB")
	}
	holes := slices.Concat(append(sparse("2000000000"), sparse("2000000000")...)...)
	for name, data := range map[string][]byte{"zeros": zeros(t, 2<<30+1), "holes": holes} {
		err := archive.Files(bytes.NewReader(data), func(archive.File) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "unpacks to more than") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func FuzzFiles(f *testing.F) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		if !strings.HasSuffix(name, "fuzz") {
			f.Add(read(f, filepath.Base(name)))
		}
	}
	for _, c := range hostile() {
		if len(c[0]) < 1<<16 {
			f.Add([]byte(c[0]))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = archive.Files(bytes.NewReader(data), func(file archive.File) error {
			if strings.HasPrefix(file.Name, "/") || strings.HasPrefix(file.Name, "..") {
				t.Errorf("a name of %q", file.Name)
			}
			_, err := io.Copy(io.Discard, io.LimitReader(file, 1<<20))
			if err != nil {
				return err
			}
			return nil
		})
	})
}

func BenchmarkXZ(b *testing.B) {
	data := read(b, "lines.xz")
	b.ReportAllocs()
	b.SetBytes(int64(len(sample("lines"))))
	for b.Loop() {
		if _, err := archive.Decompress(bytes.NewReader(data)); err != nil {
			b.Fatal(err)
		}
	}
}
