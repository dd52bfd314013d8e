package archive

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/cavaliergopher/cpio"
)

// cpioHeader is the size of a header: a magic and 13 numbers of eight hexadecimal digits (cpio(5), new ASCII format).
const cpioHeader = 6 + 13*8

// readCPIO reads the new ASCII format. The library takes the end of the stream for that of the archive, also where a header or a content
// should be, and a number with a sign for one: that is checked here.
func readCPIO(r *bufio.Reader, use func(File) error) error {
	m := members{use: use}
	in := &sinceMember{Reader: r}
	for archive := cpio.NewReader(in); ; {
		in.read = 0
		h, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF) && in.read >= cpioHeader:
			_, err := io.Copy(io.Discard, r)
			return err
		case errors.Is(err, cpio.ErrHeader):
			return fmt.Errorf("cpio: a header is damaged, or not of the new ASCII format: %w", err)
		case err != nil:
			return fmt.Errorf("cpio: %w", cut(err))
		case h.Size < 0:
			return fmt.Errorf("cpio: %q has a size of %d", h.Name, h.Size)
		}
		if err := m.cpioMember(archive, h); err != nil {
			return err
		}
	}
}

// cpioMember hands on a member. Of a file with several names the last has the content, and the others are as links.
func (m *members) cpioMember(content io.Reader, h *cpio.Header) error {
	switch h.Mode & cpio.ModeType {
	case cpio.TypeReg:
		if h.Links > 1 && h.Size == 0 {
			return m.file(h.Name, 0, failing{errLink})
		}
		return m.file(h.Name, h.Size, &exact{content, h.Size})
	case cpio.TypeSymlink:
		return m.file(h.Name, 0, failing{errLink})
	case cpio.TypeDir:
		_, err := m.name(h.Name)
		return err
	}
	return fmt.Errorf("cpio: %q is neither a file nor a directory nor a link", h.Name)
}
