package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
)

// maxWindow limits the memory of a decompressor: zstd's highest level without --ultra has 8 MiB, xz's highest 64.
const maxWindow = 64 << 20

// xzMagic is the beginning of an xz stream (The .xz File Format, 2.1.1.1).
const xzMagic = "\xfd7zXZ\x00"

// notRead are compressions of old packages, by the first bytes of the stream. lzma has no magic: these are its default
// properties and the low bytes of its dictionary's size, by which rpm and file(1) recognize it.
var notRead = map[string]string{"BZh": "bzip2", "\x5d\x00\x00": "lzma", "LZIP": "lzip"}

// decompressed is a stream without its compression, which is recognized by its first bytes: gzip (RFC 1952), zstd (RFC
// 8878), xz. Other data is returned unchanged. done frees the decompressor's resources.
func decompressed(r io.Reader) (plain *bufio.Reader, done func(), err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	done = func() {}
	head, _ := in.Peek(6)
	var out io.Reader
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		out, err = gzip.NewReader(in)
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		var z *zstd.Decoder
		if z, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxTotal)); err == nil {
			out, done = z, z.Close
		}
	case bytes.HasPrefix(head, []byte(xzMagic)):
		out, err = xz.NewReader(in, maxWindow)
	default:
		for magic, name := range notRead {
			if bytes.HasPrefix(head, []byte(magic)) {
				return nil, nil, fmt.Errorf("is compressed by %s, which is not read: pack it with gzip, zstd or xz", name)
			}
		}
		return in, done, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return bufio.NewReaderSize(&counted{out, maxTotal}, 64<<10), done, nil
}

// counted limits a decompressor's output.
type counted struct {
	io.Reader
	left int64
}

func (c *counted) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, fmt.Errorf("unpacks to more than %d bytes", int64(maxTotal))
	}
	n, err := c.Reader.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}
