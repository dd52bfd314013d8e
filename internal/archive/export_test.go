package archive

import "io"

// Decompress reads all of a stream that is compressed.
func Decompress(r io.Reader) ([]byte, error) {
	plain, done, err := decompressed(r)
	if err != nil {
		return nil, err
	}
	defer done()
	return io.ReadAll(plain)
}
