package userdata

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/envelope"
)

// TestGzip checks that the content is unchanged and the result the same every time, and that an ordinary contract fits EC2.
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

// Ignition decompresses the contents of a compressed config, and the agent finds the same contract in it.
func TestGzipIgnition(t *testing.T) {
	contract := nativeContract
	contract.Document = []byte(`{"apiVersion":"slipway.dev/v1","kind":"NodeConfig","metadata":{"name":"` + strings.Repeat("a", 4000) + `"}}`)
	plain, err := Ignition(contract)
	if err != nil {
		t.Fatal(err)
	}
	small, err := GzipIgnition(plain)
	if err != nil || len(small)*2 > len(plain) || !strings.Contains(string(small), `"compression":"gzip"`) {
		t.Fatalf("%v, %d bytes of %d", err, len(small), len(plain))
	}
	if again, err := GzipIgnition(small); err != nil || string(again) != string(small) {
		t.Errorf("compressed twice: %v", err)
	}
	if got, err := envelope.Open(small, contractPlaces); err != nil || !bytes.Equal(got.Data, contract.Document) {
		t.Errorf("%v %v", got, err)
	}
	if _, err := GzipIgnition([]byte("{")); err == nil {
		t.Error("a config that is not JSON is compressed")
	}
}
