package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// tarBlock is the size of a header, and what content is padded to (POSIX: pax, ustar interchange format).
const tarBlock = 512

// maxExtended bounds a header that extends the next one: it has a name, and numbers.
const maxExtended = 64 << 10

// isTar reports whether a stream begins with a header of tar.
func isTar(head []byte) bool {
	return len(head) == tarBlock && bytes.HasPrefix(head[257:], []byte("ustar"))
}

// tar reads ustar, and what pax and GNU extend of it: long names and large sizes.
func tar(r *bufio.Reader, use func(File) error) error {
	m := members{use: use}
	var next extended
	for {
		head, err := whole(r, tarBlock)
		if err != nil {
			return fmt.Errorf("tar: %w", err)
		}
		if len(bytes.Trim(head, "\x00")) == 0 {
			_, err := io.Copy(io.Discard, r) // a second one, and padding
			return err
		}
		h, err := parseTar(head)
		if err != nil {
			return fmt.Errorf("tar: %w", err)
		}
		switch h.kind {
		case 'x', 'g', 'L', 'K':
			if h.size > maxExtended {
				return fmt.Errorf("tar: a header of %d bytes; the limit is %d", h.size, maxExtended)
			}
			data, err := whole(r, padded(h.size, tarBlock))
			if err == nil {
				err = next.read(h.kind, data[:h.size])
			}
			if err != nil {
				return fmt.Errorf("tar: %w", err)
			}
			continue
		}
		next.extend(&h)
		next = extended{}
		if err := m.tarMember(r, &h); err != nil {
			return err
		}
	}
}

// tarMember hands on what a header is of.
func (m *members) tarMember(r *bufio.Reader, h *tarHeader) error {
	switch h.kind {
	case '0', 0, '7':
		content := &exact{r, h.size}
		if err := m.file(h.name, h.size, content); err != nil {
			return err
		}
		return skip(r, padded(h.size, tarBlock)-h.size)
	case '1', '2':
		return m.file(h.name, 0, failing{errLink})
	case '5':
		_, err := m.name(h.name)
		if err != nil {
			return err
		}
		return skip(r, padded(h.size, tarBlock))
	}
	return fmt.Errorf("tar: %q is of type %q: neither a file nor a directory nor a link", h.name, h.kind)
}

// tarHeader is what is read of a header.
type tarHeader struct {
	name string
	size int64
	kind byte
}

// parseTar reads a header, whose checksum has to be right.
func parseTar(head []byte) (h tarHeader, err error) {
	sum, err := octal(head[148:156])
	if err != nil {
		return h, fmt.Errorf("checksum: %w", err)
	}
	var have int64
	for i, b := range head {
		if i >= 148 && i < 156 {
			b = ' '
		}
		have += int64(b)
	}
	if have != sum {
		return h, errors.New("the checksum of a header is wrong")
	}
	h.name, h.kind = text(head[:100]), head[156]
	if prefix := text(head[345:500]); prefix != "" && string(head[257:263]) == "ustar\x00" { // GNU has times there
		h.name = prefix + "/" + h.name
	}
	if h.size, err = octal(head[124:136]); err != nil {
		return h, fmt.Errorf("size of %q: %w", h.name, err)
	}
	return h, nil
}

// text is a field up to its first NUL.
func text(field []byte) string {
	field, _, _ = bytes.Cut(field, []byte{0})
	return string(field)
}

// octal is a number of a header, in octal digits, or, as GNU has large ones, in binary.
func octal(field []byte) (int64, error) {
	var n int64
	var err error
	if field[0]&0x80 != 0 {
		for i, b := range field {
			if i == 0 {
				b &= 0x7f
			}
			if n > maxTotal {
				break
			}
			n = n<<8 | int64(b)
		}
	} else if digits := strings.Trim(string(field), " \x00"); digits != "" {
		n, err = strconv.ParseInt(digits, 8, 64)
	}
	if err == nil && (n < 0 || n > maxTotal) {
		err = fmt.Errorf("%d is beyond the limit of %d", n, int64(maxTotal))
	}
	return n, err
}

// padded is a size with what follows up to a multiple.
func padded(size, of int64) int64 { return (size + of - 1) / of * of }

// extended is what special headers say of the next one.
type extended struct {
	name string
	size *int64
}

// read takes what a special header has: GNU's long name, or pax's records; of the latter those of the next member alone.
func (e *extended) read(kind byte, data []byte) error {
	switch kind {
	case 'L':
		e.name = text(data)
	case 'x':
		for len(data) > 0 {
			// "LENGTH KEY=VALUE\n", LENGTH with itself
			digits, _, ok := bytes.Cut(data, []byte{' '})
			n, err := strconv.Atoi(string(digits))
			if !ok || err != nil || n <= len(digits)+1 || n > len(data) || data[n-1] != '\n' {
				return errors.New("a record of pax is damaged")
			}
			key, value, _ := strings.Cut(string(data[len(digits)+1:n-1]), "=")
			switch key {
			case "path":
				e.name = value
			case "size":
				size, err := strconv.ParseInt(value, 10, 64)
				if err != nil || size < 0 || size > maxTotal {
					return fmt.Errorf("the size %q is beyond the limit of %d", value, int64(maxTotal))
				}
				e.size = &size
			case "GNU.sparse.major", "GNU.sparse.map":
				return errors.New("has a sparse file, which is not read")
			}
			data = data[n:]
		}
	}
	return nil
}

// extend corrects a header.
func (e *extended) extend(h *tarHeader) {
	if e.name != "" {
		h.name = e.name
	}
	if e.size != nil {
		h.size = *e.size
	}
}
