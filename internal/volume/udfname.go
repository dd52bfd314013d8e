package volume

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"unicode/utf8"
)

var errSpecial = fmt.Errorf("%w: it is neither a file nor a directory", fs.ErrNotExist)

// File characteristics (ECMA-167 §4/14.4.3).
const (
	identifierDeleted = 1 << 2
	identifierParent  = 1 << 3
)

// identifierSize is the size of a file identifier descriptor before its variable parts (ECMA-167 §4/14.4).
const identifierSize = 38

func (u *udf) find(s *session, content []byte, name string) (file, error) {
	for entries := 0; len(content) > 0; entries++ {
		if entries == maxEntries {
			return file{}, errDirectoryTooLarge
		}
		if len(content) < identifierSize {
			return file{}, errEndsEarly
		}
		start := identifierSize + int(binary.LittleEndian.Uint16(content[36:]))
		end := start + int(content[19])
		if end > len(content) {
			return file{}, errEndsEarly
		}
		// It is padded to a multiple of four bytes.
		padded := min((end+3)&^3, len(content))
		if err := checkTag(content[:padded]); err != nil {
			return file{}, err
		}
		if binary.LittleEndian.Uint16(content) != tagFileIdentifier {
			return file{}, corrupt("udf: a directory holds something other than file identifiers")
		}
		hidden := content[18]&(identifierDeleted|identifierParent) != 0
		if !hidden && matchExact(appendCompressed(s.name[:0], content[start:end]), name) == exact {
			return u.file(s, longAddress(content[20:36]))
		}
		content = content[padded:]
	}
	return file{}, errNoEntry
}

// appendCompressed appends OSTA compressed Unicode as UTF-8 (OSTA UDF 2.01 §2.1.1): a byte with the number of bits of a
// character, and the characters. For other data it appends nothing.
func appendCompressed(dst, src []byte) []byte {
	if len(src) == 0 {
		return dst
	}
	switch src[0] {
	case 8:
		for _, c := range src[1:] {
			dst = utf8.AppendRune(dst, rune(c))
		}
	case 16:
		dst = appendUTF16(dst, src[1:], binary.BigEndian)
	}
	return dst
}

// dstring is the text of a field of fixed size, whose last byte is its used length (ECMA-167 §1/7.2.12).
func dstring(field []byte) []byte {
	last := len(field) - 1
	return appendCompressed(nil, field[:min(int(field[last]), last)])
}
