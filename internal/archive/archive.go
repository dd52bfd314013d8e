package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"
)

// The limits. Kubernetes' archive for nodes has 14 members and unpacks to some 500 MB.
const (
	maxMembers = 20_000
	maxName    = 1024
	maxTotal   = 2 << 30
)

// ErrStop, returned by use, ends the reading of an archive without an error.
var ErrStop = errors.New("no more is wanted of the archive")

// File is a regular file of an archive. Its content can be read until use returns.
type File struct {
	// Name is its path within the archive, clean and relative. It is empty if the data is not an archive but a single
	// file.
	Name string
	// Size is its size in bytes. It is negative if unknown in advance.
	Size int64
	// Link reports that it is a link. Its content cannot be read, and the error says so. A package can have a program at one path, and a
	// link to it at another, as Debian's of runc has.
	Link bool
	io.Reader
}

// errLink is the error of a member without content.
var errLink = errors.New("is a link, and no file")

// linked is the content of a link.
type linked struct{}

func (linked) Read([]byte) (int, error) { return 0, errLink }

// Missing is the error of a wanted file that an archive has under none of its names. link is a link of one of these names, or empty.
func Missing(names []string, link string) error {
	if link != "" {
		return fmt.Errorf("%s: %w", link, errLink)
	}
	return fmt.Errorf("has no file %s", strings.Join(names, " or "))
}

// Files calls use for each regular file, in the order of the archive. A link is a file whose content cannot be read, so
// that only a caller that needs it fails. Without an error, the whole archive was read and its checksums are right,
// unless use has returned ErrStop.
func Files(r io.Reader, use func(File) error) error {
	err := files(r, use)
	if errors.Is(err, ErrStop) {
		return nil
	}
	return err
}

func files(r io.Reader, use func(File) error) error {
	plain, done, err := decompressed(r)
	if err != nil {
		return err
	}
	defer done()
	switch head, _ := plain.Peek(tarBlock); {
	case bytes.HasPrefix(head, []byte(arMagic)):
		return debian(plain, use)
	case bytes.HasPrefix(head, []byte(rpmMagic)):
		return rpm(plain, use)
	case isTar(head):
		return readTar(plain, use)
	case bytes.HasPrefix(head, []byte("\x7fELF")):
		if err := use(File{Size: -1, Reader: plain}); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, plain)
		return err
	}
	return errors.New("is neither an archive that is known (tar, deb, rpm) nor a program")
}

// members checks the members that the archives' readers find, and passes them on.
type members struct {
	count int
	// total is the size of all files so far. A sparse file has more bytes than its archive.
	total int64
	use   func(File) error
}

// file passes on a member: a regular file, a link, or another kind. content ends with the member.
func (m *members) file(name string, size int64, content io.Reader) error {
	clean, err := m.name(name)
	if err != nil {
		return err
	}
	if size > maxTotal-m.total {
		return fmt.Errorf("unpacks to more than %d bytes", int64(maxTotal))
	}
	m.total += size
	_, link := content.(linked)
	if err := m.use(File{clean, size, link, content}); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, content)
	if err != nil && !errors.Is(err, errLink) {
		return fmt.Errorf("%q: %w", clean, err)
	}
	return nil
}

// name checks a member's name, and returns its shortest form.
func (m *members) name(name string) (string, error) {
	if m.count++; m.count > maxMembers {
		return "", fmt.Errorf("has more than %d members", maxMembers)
	}
	switch {
	case len(name) > maxName:
		return "", fmt.Errorf("has a name of %d bytes; the limit is %d", len(name), maxName)
	case name == "", !utf8.ValidString(name), strings.IndexByte(name, 0) >= 0:
		return "", fmt.Errorf("has %q for the name of a member", name)
	}
	clean := path.Clean(name)
	if path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") {
		return "", fmt.Errorf("has a member %q, which is outside of it", name)
	}
	return clean, nil
}

// whole reads exactly n bytes.
func whole(r io.Reader, n int64) ([]byte, error) {
	data := make([]byte, n)
	_, err := io.ReadFull(r, data)
	return data, cut(err)
}

// cut is an error of an archive that ends too early.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// skip skips n bytes.
func skip(r io.Reader, n int64) error {
	_, err := io.CopyN(io.Discard, r, n)
	return cut(err)
}

// exact is the next n bytes of a stream. If there are fewer, that is an error.
type exact struct {
	r    io.Reader
	left int64
}

func (e *exact) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	return n, cut(err)
}

// padded is a size rounded up to a multiple.
func padded(size, of int64) int64 { return (size + of - 1) / of * of }
