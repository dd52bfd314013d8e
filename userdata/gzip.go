package userdata

import (
	"bytes"
	"compress/gzip"
)

// Gzip returns a document compressed, for a cloud that takes less than its size. cloud-init unpacks
// what it is handed, and so does the agent, which looks for its contract by itself. Ignition does not:
// do not compress its config.
//
// The same document gives the same bytes as long as they are made by the same version of Go.
func Gzip(document []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // a level that exists
	_, _ = w.Write(document)                                // to memory: it cannot fail
	_ = w.Close()
	return out.Bytes()
}
