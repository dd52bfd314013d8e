package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// tarBlock is the size of a header, and the unit of content's padding (POSIX: pax, ustar interchange format).
const tarBlock = 512

// isTar reports whether a stream begins with a tar header.
func isTar(head []byte) bool {
	return len(head) == tarBlock && bytes.HasPrefix(head[257:], []byte("ustar"))
}

// readTar reads ustar with the extensions of pax and GNU: long names, large sizes, and sparse files, whose holes are
// read as zeros. It checks what archive/tar does not notice: an archive without a block of zeros at its end is
// incomplete.
func readTar(r *bufio.Reader, use func(File) error) error {
	m := members{use: use}
	in := &zeroTail{Reader: r}
	for archive := tar.NewReader(in); ; {
		in.zeros = 0
		h, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF) && in.zeros >= tarBlock:
			_, err := io.Copy(io.Discard, r) // padding
			return err
		case err != nil:
			return fmt.Errorf("tar: %w", cut(err))
		}
		if err := m.tarMember(archive, h); err != nil {
			return err
		}
	}
}

// tarMember passes on the member of a header.
func (m *members) tarMember(content io.Reader, h *tar.Header) error {
	if !sparseIsRead(h) {
		return fmt.Errorf("tar: %q is a sparse file of a format that is not read; pack it without tar's option --sparse", h.Name)
	}
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse:
		return m.file(h.Name, h.Size, content)
	case tar.TypeLink, tar.TypeSymlink:
		return m.file(h.Name, 0, linked{})
	case tar.TypeDir:
		_, err := m.name(h.Name)
		return err
	case tar.TypeXGlobalHeader:
		return nil
	}
	return fmt.Errorf("tar: %q is of type %q: neither a file nor a directory nor a link", h.Name, h.Typeflag)
}

// sparseIsRead reports whether archive/tar supports the pax records about a member's holes (GNU tar: "Storing Sparse
// Files"). If it does not know the version, it returns the bytes as they are stored, without an error.
func sparseIsRead(h *tar.Header) bool {
	const prefix = "GNU.sparse."
	has := false
	for key := range h.PAXRecords {
		has = has || strings.HasPrefix(key, prefix)
	}
	if !has {
		return true
	}
	switch h.PAXRecords[prefix+"major"] + "." + h.PAXRecords[prefix+"minor"] {
	case "0.0", "0.1", "1.0":
	case ".": // 0.0 and 0.1, as GNU tar writes them
		has = h.PAXRecords[prefix+"map"] != ""
	default:
		has = false
	}
	return has && h.Typeflag != tar.TypeGNUSparse && h.Typeflag != tar.TypeXGlobalHeader
}

// zeroTail counts the zeros at the end of what was read.
type zeroTail struct {
	io.Reader
	zeros int
}

func (z *zeroTail) Read(p []byte) (int, error) {
	n, err := z.Reader.Read(p)
	rest := len(bytes.TrimRight(p[:n], "\x00"))
	if rest > 0 {
		z.zeros = 0
	}
	z.zeros += n - rest
	return n, err
}
