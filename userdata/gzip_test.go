package userdata

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"
)

// TestGzip holds that what comes out is what went in, and the same every time, and that an ordinary contract
// fits EC2.
func TestGzip(t *testing.T) {
	for _, c := range []Contract{aksContract, nativeContract} {
		document, err := MIME(c)
		if err != nil {
			t.Fatal(err)
		}
		packed := Gzip(document)
		if !bytes.Equal(packed, Gzip(document)) {
			t.Error("two times are two results")
		}
		if len(packed) >= len(document) || EC2.Check(len(packed)) != nil {
			t.Errorf("%d bytes are packed to %d", len(document), len(packed))
		}
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, document) {
			t.Errorf("unpacked: %d bytes, %v, want %d", len(got), err, len(document))
		}
	}
}
