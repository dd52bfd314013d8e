package archive

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
)

// cpioHeader is the size of a header: a magic and 13 numbers of eight hexadecimal digits (cpio(5), new ASCII format).
const cpioHeader = 6 + 13*8

const cpioEnd = "TRAILER!!!"

// The types of a member, in its mode (inode(7)).
const (
	cpioType      = 0o170000
	cpioRegular   = 0o100000
	cpioDirectory = 0o040000
	cpioLink      = 0o120000
)

// cpio reads the new ASCII format, with and without checksums.
func cpio(r *bufio.Reader, use func(File) error) error {
	m := members{use: use}
	for {
		head, err := whole(r, cpioHeader)
		if err != nil {
			return fmt.Errorf("cpio: %w", err)
		}
		if magic := string(head[:6]); magic != "070701" && magic != "070702" {
			return fmt.Errorf("cpio: a header begins with %q; only the new ASCII format is read", magic)
		}
		var numbers [13]int64
		for i := range numbers {
			n, err := strconv.ParseUint(string(head[6+8*i:14+8*i]), 16, 32)
			if err != nil {
				return fmt.Errorf("cpio: a header is damaged: %q", head[6+8*i:14+8*i])
			}
			numbers[i] = int64(n)
		}
		mode, links, size, length := numbers[1], numbers[4], numbers[6], numbers[11]
		if length < 1 || length > maxName+1 || size > maxTotal {
			return fmt.Errorf("cpio: a name of %d bytes, or a size of %d, is beyond the limits", length, size)
		}
		// Header and name together are padded, and so is the content.
		name, err := whole(r, padded(cpioHeader+length, 4)-cpioHeader)
		if err != nil {
			return fmt.Errorf("cpio: %w", err)
		}
		named := text(name[:length])
		if named == cpioEnd {
			_, err := io.Copy(io.Discard, r)
			return err
		}
		if err := m.cpioMember(r, named, mode&cpioType, links, size); err != nil {
			return err
		}
		if err := skip(r, padded(size, 4)-size); err != nil {
			return fmt.Errorf("cpio: %w", err)
		}
	}
}

// cpioMember hands on a member. Of a file with several names the last has the content, and the others are as links.
func (m *members) cpioMember(r *bufio.Reader, name string, kind, links, size int64) error {
	content := &exact{r, size}
	switch {
	case kind == cpioRegular && (links < 2 || size > 0):
		return m.file(name, size, content)
	case kind == cpioRegular:
		return m.file(name, 0, failing{errLink})
	case kind == cpioLink:
		if err := m.file(name, 0, failing{errLink}); err != nil {
			return err
		}
	case kind == cpioDirectory:
		if _, err := m.name(name); err != nil {
			return err
		}
	default:
		return fmt.Errorf("cpio: %q is neither a file nor a directory nor a link", name)
	}
	return skip(r, content.left)
}
