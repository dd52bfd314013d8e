package userdata

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"sync"
)

// base64Bytes is the number of bytes that base64 encodes independently of others.
const base64Bytes = 3

// The header of a gzip member (RFC 1952, 2.3): no time, an unknown operating system.
const (
	memberHeader  = "\x1f\x8b\x08"
	withComment   = 1 << 4
	timeAndSystem = "\x00\x00\x00\x00\x00\xff"
	headerSize    = len(memberHeader) + 1 + len(timeAndSystem)
	trailerSize   = 8
)

// appendMember appends a gzip member with compressed data. A comment of a byte or two aligns its end with a group of base64, so
// that the concatenated base64 of members is the base64 of the whole.
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

// maxStored is the capacity of one uncompressed block (RFC 1951, 3.2.4).
const maxStored = 0xffff

// appendStored appends data in uncompressed blocks.
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

// deflaters are reused, because each has more than a megabyte.
var deflaters = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.DefaultCompression) // a level that exists
	return w
}}

// deflated compresses data.
func deflated(data []byte) []byte {
	var out bytes.Buffer
	w := deflaters.Get().(*flate.Writer)
	w.Reset(&out)
	_, _ = w.Write(data) // to memory: it cannot fail
	_ = w.Close()
	deflaters.Put(w)
	return out.Bytes()
}
