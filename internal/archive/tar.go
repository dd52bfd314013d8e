package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// tarBlock is the size of a header, and what content is padded to (POSIX: pax, ustar interchange format).
const tarBlock = 512

// isTar reports whether a stream begins with a header of tar.
func isTar(head []byte) bool {
	return len(head) == tarBlock && bytes.HasPrefix(head[257:], []byte("ustar"))
}

// readTar reads ustar, and what pax and GNU extend of it: long names, large sizes, and sparse files, whose holes are read as zeros.
// An archive without the block that ends it was cut, which archive/tar does not see where a member has ended.
func readTar(r *bufio.Reader, use func(File) error) error {
	m := members{use: use}
	in := &sinceMember{Reader: r}
	for archive := tar.NewReader(in); ; {
		in.read = 0
		h, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF) && in.read >= tarBlock:
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

// tarMember hands on what a header is of.
func (m *members) tarMember(content io.Reader, h *tar.Header) error {
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse:
		return m.file(h.Name, h.Size, content)
	case tar.TypeLink, tar.TypeSymlink:
		return m.file(h.Name, 0, failing{errLink})
	case tar.TypeDir:
		_, err := m.name(h.Name)
		return err
	case tar.TypeXGlobalHeader:
		return nil
	}
	return fmt.Errorf("tar: %q is of type %q: neither a file nor a directory nor a link", h.Name, h.Typeflag)
}

// sinceMember counts what is read beyond the content of a member.
type sinceMember struct {
	io.Reader
	read int64
}

func (s *sinceMember) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.read += int64(n)
	return n, err
}
