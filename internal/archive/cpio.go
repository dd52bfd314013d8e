package archive

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/cavaliergopher/cpio"
)

// readCPIO reads the new ASCII format, with and without checksums (cpio(5)). It checks what the library does not check:
// a stream that ends before the archive does, a size with a sign, and the checksums.
func readCPIO(r *bufio.Reader, use func(File) error) error {
	m := members{use: use}
	for archive := cpio.NewReader(endless{r}); ; {
		h, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			_, err := io.Copy(io.Discard, r) // padding
			return err
		case errors.Is(err, cpio.ErrHeader):
			return fmt.Errorf("cpio: a header is damaged, or not of the new ASCII format: %w", err)
		case err != nil:
			return fmt.Errorf("cpio: %w", err)
		case h.Size < 0:
			return fmt.Errorf("cpio: %q has a size of %d", h.Name, h.Size)
		}
		if err := m.cpioMember(archive, h); err != nil {
			return err
		}
	}
}

// cpioMember passes on a member. If a file has several names, the last one has the content, and the others are like
// links.
func (m *members) cpioMember(content io.Reader, h *cpio.Header) error {
	switch h.Mode & cpio.ModeType {
	case cpio.TypeReg:
		if h.Links > 1 && h.Size == 0 {
			return m.file(h.Name, 0, linked{})
		}
		if h.Checksum == 0 { // the format without checksums
			return m.file(h.Name, h.Size, content)
		}
		sum := cpio.NewHash()
		err := m.file(h.Name, h.Size, io.TeeReader(content, sum))
		if err == nil && sum.Sum32() != h.Checksum {
			err = fmt.Errorf("cpio: the checksum of %q is wrong", h.Name)
		}
		return err
	case cpio.TypeSymlink:
		return m.file(h.Name, 0, linked{})
	case cpio.TypeDir:
		_, err := m.name(h.Name)
		return err
	}
	return fmt.Errorf("cpio: %q is neither a file nor a directory nor a link", h.Name)
}

// endless is a stream whose end is an error. The library takes the end of a stream for the end of the archive, even in
// a header.
type endless struct{ io.Reader }

func (e endless) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	return n, cut(err)
}
