package userdata

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"sync"
)

// base64Bytes are so many bytes of which base64 makes characters without looking at others.
const base64Bytes = 3

// The header of a member of a gzip file (RFC 1952, 2.3): no time, an operating system that is not known.
const (
	memberHeader  = "\x1f\x8b\x08"
	withComment   = 1 << 4
	timeAndSystem = "\x00\x00\x00\x00\x00\xff"
	headerSize    = len(memberHeader) + 1 + len(timeAndSystem)
	trailerSize   = 8
)

// appendMember appends a member of a gzip file: data, as it is compressed. A comment of a byte or two makes it end where base64
// begins a new group, so that the base64 of members one after the other is that of the whole.
func appendMember(dst, compressed, data []byte) []byte {
	rest := (headerSize + len(compressed) + trailerSize) % base64Bytes
	dst = append(dst, memberHeader...)
	if rest == 0 {
		dst = append(append(dst, 0), timeAndSystem...)
	} else {
		dst = append(append(dst, withComment), timeAndSystem...)
		dst = append(dst, "-\x00"[rest-1:]...) // a comment ends with a zero byte
	}
	dst = append(dst, compressed...)
	dst = binary.LittleEndian.AppendUint32(dst, crc32.ChecksumIEEE(data))
	return binary.LittleEndian.AppendUint32(dst, uint32(len(data)))
}

// maxStored is how much one block holds that is not compressed (RFC 1951, 3.2.4).
const maxStored = 0xffff

// appendStored appends data in blocks that are not compressed.
func appendStored(dst, data []byte) []byte {
	for {
		n := min(len(data), maxStored)
		last := byte(0)
		if n == len(data) {
			last = 1
		}
		dst = append(dst, last)
		dst = binary.LittleEndian.AppendUint16(dst, uint16(n))
		dst = binary.LittleEndian.AppendUint16(dst, ^uint16(n))
		dst = append(dst, data[:n]...)
		if data = data[n:]; last == 1 {
			return dst
		}
	}
}

// deflaters are kept, because each has more than a megabyte.
var deflaters = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.DefaultCompression) // a level that exists
	return w
}}

// deflated is data, compressed.
func deflated(data []byte) []byte {
	var out bytes.Buffer
	w := deflaters.Get().(*flate.Writer)
	w.Reset(&out)
	_, _ = w.Write(data) // to memory: it cannot fail
	_ = w.Close()
	deflaters.Put(w)
	return out.Bytes()
}
