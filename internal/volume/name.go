package volume

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// appendUTF16 appends UTF-16 as UTF-8, without half a unit at the end. UCS-2 is the same without surrogates.
func appendUTF16(dst, src []byte, order binary.ByteOrder) []byte {
	for len(src) >= 2 {
		r := rune(order.Uint16(src))
		src = src[2:]
		if utf16.IsSurrogate(r) {
			second := rune(0)
			if len(src) >= 2 {
				second = rune(order.Uint16(src))
			}
			if r = utf16.DecodeRune(r, second); r != utf8.RuneError {
				src = src[2:]
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// match is how well a name on the disk matches the wanted one.
type match int

const (
	different match = iota
	// folded is equal except for case.
	folded
	exact
)

// matchFolding compares without case.
func matchFolding(name []byte, want string) match {
	switch {
	case string(name) == want:
		return exact
	case bytes.EqualFold(name, []byte(want)):
		return folded
	}
	return different
}

// matchExact compares byte by byte.
func matchExact(name []byte, want string) match {
	if string(name) == want {
		return exact
	}
	return different
}

// labelText is a label without its padding.
func labelText(field []byte) string {
	return strings.ToValidUTF8(strings.Trim(string(field), " \x00"), "\uFFFD")
}
