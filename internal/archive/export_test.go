package archive

import "io"

// Decompress reads a whole compressed stream.
func Decompress(r io.Reader) ([]byte, error) {
	plain, done, err := decompressed(r)
	if err != nil {
		return nil, err
	}
	defer done()
	return io.ReadAll(plain)
}
