package envelope_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/envelope"
)

// bounds are the limits: for the limit, make creates a contract; for one more, an error.
var bounds = []struct {
	name  string
	limit int
	make  func(n int) []byte
	says  string
}{
	{"bytes of a contract", 1 << 20, sized, "more than 1048576 bytes"},
	{"bytes of user data", 1434960, func(n int) []byte {
		return append([]byte(std64(contractText)), fill(" ", n-len(std64(contractText)))...)
	}, "more than 1434960 bytes"},
	{"bytes in base64", 1 << 20, func(n int) []byte { return []byte(std64(sized(n))) }, "more than 1048576 bytes in base64"},
	{"bytes of a little gzip", 64 << 10, func(n int) []byte { return gzipped([]byte(contractText + fill("#", n-len(contractText)))) }, "more than 100 bytes for each compressed byte"},
	{"bytes of a little zstd", 64 << 10, func(n int) []byte { return zstandard([]byte(contractText + fill("#", n-len(contractText)))) }, "more than 100 bytes for each compressed byte"},
	{"bytes of gzip", 1 << 20, func(n int) []byte { return gzipped(sized(n)) }, "more than 1048576 bytes once decompressed"},
	{"bytes of zstd", 1 << 20, func(n int) []byte { return zstandard(sized(n)) }, "more than 1048576 bytes once decompressed"},
	{"bytes of all that is decoded", 4 << 20, func(n int) []byte {
		parts := manyParts(4, part{"application/gzip", "", gzipped(append([]byte("!\n"), sized(1<<20-2)...))})
		parts = append(parts, part{"application/gzip", "", gzipped([]byte(fill("!", n-4<<20)))})
		return archiveOf(append(parts, part{"text/x-slipway-config", "", []byte(contractText)})...)
	}, "more than 4194304 bytes once everything is decoded"},
	{"wrappings", 8, func(n int) []byte { return nested(n, []byte(contractText), gzipped) }, "more than 8 nested wrappings"},
	{"wrappings in MIME", 8, func(n int) []byte { return multipartAgain(n) }, "more than 8 nested wrappings"},
	{"parts", 100, func(n int) []byte {
		return archiveOf(append(manyParts(n-1, part{"image/png", "", nil}), part{"text/x-slipway-config", "", []byte(contractText)})...)
	}, "more than 100 parts"},
	{"bytes of a header", 16 << 10, func(n int) []byte {
		header := "MIME-Version: 1.0\nX: "
		return []byte(header + fill("x", n-len(header)-2) + "\n\n" + contractText)
	}, "more than 16384 bytes of one header"},
	{"bytes of a Content-Type", 1 << 10, func(n int) []byte {
		const name = "text/plain; name="
		return []byte("MIME-Version: 1.0\nContent-Type: " + name + fill("x", n-len(name)) + "\n\n" + contractText)
	}, "more than 1024 bytes of one Content-Type"},
	{"entries of write_files", 1000, func(n int) []byte {
		return append(with("content: 'a: b'\n"), strings.Repeat("- {}\n", n-1)...)
	}, "more than 1000 entries of write_files"},
	{"files of Ignition", 1000, func(n int) []byte {
		return bytes.Replace(ignitionOf(`{"source":"data:,a%3A%20b"}`), []byte("[{"), []byte("["+strings.Repeat("{},", n-1)+"{"), 1)
	}, "more than 1000 files"},
	{"bytes of a cloud-config", 512 << 10, func(n int) []byte {
		config := append(with("content: 'a: b'\n"), "x: "...)
		return append(config, fill("a", n-len(config))...)
	}, "more than 524288 bytes of configs"},
	{"signs of a cloud-config", 8000, func(n int) []byte {
		config := append(with("content: 'a%3A b'\n"), "x: ["...)
		return append(config, strings.Repeat("a,", n-bytes.Count(config, []byte(":"))-3)+"a]"...)
	}, "more than 8000 structural characters"},
	{"levels of nested values in Ignition", 64, func(n int) []byte {
		return bytes.Replace(ignitionOf(`{"source":"data:,a%3A%20b"}`), []byte(`"version":"3.4.0"`), []byte(`"x":`+strings.Repeat("[", n-1)+strings.Repeat("]", n-1)), 1)
	}, "more than 64"},
}

// sized is a contract of n bytes that compresses, but not too well.
func sized(n int) []byte {
	head := contractText + "x: "
	return []byte((head + strings.Repeat(string(noise(24<<10)), n/(24<<10)+1))[:n])
}

// TestLimits: input at a limit is read, and input one beyond it is refused.
func TestLimits(t *testing.T) {
	for _, b := range bounds {
		if _, err := envelope.Open(b.make(b.limit), places); err != nil {
			t.Errorf("%s, %d: %v", b.name, b.limit, err)
		}
		if _, err := envelope.Open(b.make(b.limit+1), places); outcome(err) != "limit" || !strings.Contains(fmt.Sprint(err), b.says) {
			t.Errorf("%s, %d: got %v, want %q", b.name, b.limit+1, err, b.says)
		}
	}
}
