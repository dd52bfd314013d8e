package envelope

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/slipway-dev/slipway/internal/document"
)

// inflater decompresses, and is reused for each piece: its memory is larger than most pieces.
type inflater struct {
	gzip   *gzip.Reader
	zstd   *zstd.Decoder
	buffer bytes.Buffer
}

// decompressed opens compressed data.
func (o *opener) decompressed(l layer, k kind) error {
	name, decompress := "gzip", o.inflater.gunzip
	if k == zstandard {
		name, decompress = "zstd", o.inflater.unzstd
	}
	inner := l.in(name, nil)
	data, err := o.inflate(&inner, l.data, decompress)
	if err != nil {
		return err
	}
	inner.data = data
	return o.open(inner)
}

// gunzip opens data that is declared as gzip.
func (o *opener) gunzip(l *layer, data []byte) ([]byte, error) {
	return o.inflate(l, data, o.inflater.gunzip)
}

// errOutput is the error of a decompression whose output exceeds the limit.
var errOutput = errors.New("too much output")

// inflate decompresses under the limits, which depend on the input's size.
func (o *opener) inflate(l *layer, data []byte, decompress func(data []byte, limit int) ([]byte, error)) ([]byte, error) {
	limit := min(document.MaxBytes, max(freeOutput, maxRatio*len(data)))
	out, err := decompress(data, limit)
	switch {
	case errors.Is(err, errOutput) && limit < document.MaxBytes:
		return nil, l.beyond("bytes for each compressed byte", maxRatio)
	case errors.Is(err, errOutput):
		return nil, l.beyond("bytes once decompressed", limit)
	case errors.Is(err, errWindow):
		return nil, l.beyond("bytes of zstd's window", maxWindow)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, l.broken("the compressed data ends early")
	case err != nil:
		return nil, l.broken("the compressed data is damaged") // the error itself may show some of its bytes
	}
	return out, o.spend(l, len(out))
}

// readAll reads at most limit bytes.
func (i *inflater) readAll(r io.Reader, limit int) ([]byte, error) {
	i.buffer.Reset()
	n, err := i.buffer.ReadFrom(io.LimitReader(r, int64(limit)+1))
	if err == nil && n > int64(limit) {
		err = errOutput
	}
	if err != nil {
		return nil, err
	}
	return bytes.Clone(i.buffer.Bytes()), nil
}

// gunzip decompresses all members of a gzip file, at most limit bytes, and checks their checksums.
func (i *inflater) gunzip(data []byte, limit int) ([]byte, error) {
	if i.gzip == nil {
		i.gzip = new(gzip.Reader)
	}
	if err := i.gzip.Reset(bytes.NewReader(data)); err != nil {
		return nil, err
	}
	return i.readAll(i.gzip, limit)
}

// errWindow is the error of a frame that requires too large a window.
var errWindow = zstd.ErrWindowSizeExceeded

// unzstd decompresses all frames of a zstd file, at most limit bytes. The output is also the window, so at most limit
// bytes are allocated, whatever the frames state.
func (i *inflater) unzstd(data []byte, limit int) ([]byte, error) {
	if i.zstd == nil {
		var err error
		i.zstd, err = zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(1), // no goroutines, so there is nothing to close
			zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(maxWindow),
			zstd.WithDecoderMaxWindow(maxWindow),
			zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
	}
	i.buffer.Reset()
	i.buffer.Grow(limit)
	out, err := i.zstd.DecodeAll(data, i.buffer.AvailableBuffer()[:0:limit])
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		err = errOutput
	}
	if err != nil {
		return nil, err
	}
	return bytes.Clone(out), nil
}
