package envelope_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"mime/quotedprintable"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/slipway-dev/slipway/userdata"
)

// places are the paths that a node reads.
var places = []string{userdata.AKSPath, userdata.NativeYAMLPath, userdata.NativePath}

// example is an example contract, with its path.
type example struct {
	name, path string
	document   []byte
}

// examples are all example contracts.
func examples(t testing.TB) []example {
	t.Helper()
	var list []example
	for _, from := range []struct{ pattern, path string }{
		{"../../examples/aks/*.json", userdata.AKSPath},
		{"../../examples/native/*.yaml", userdata.NativeYAMLPath},
	} {
		files, err := filepath.Glob(from.pattern)
		if err != nil || len(files) == 0 {
			t.Fatal("no examples in", from.pattern, err)
		}
		for _, file := range files {
			document, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, example{filepath.Base(file), from.path, document})
		}
	}
	return list
}

// wrapper is one way to wrap data. It may choose among spellings, by r. If the wrapping has paths, it returns the path
// that it wrote the data at.
type wrapper struct {
	name string
	wrap func(r *rand.Rand, data []byte) (wrapped []byte, place string)
}

var wrappers = []wrapper{
	{"base64", func(r *rand.Rand, data []byte) ([]byte, string) { return base64Text(r, data), "" }},
	{"gzip", func(_ *rand.Rand, data []byte) ([]byte, string) { return gzipped(data), "" }},
	{"zstd", func(_ *rand.Rand, data []byte) ([]byte, string) { return zstandard(data), "" }},
	{"mime", func(r *rand.Rand, data []byte) ([]byte, string) { return mimeArchive(r, data), "" }},
	{"cloud-config", cloudConfig},
	{"boothook", boothook},
	{"ignition", ignition},
}

// pick returns one element of a list.
func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// base64Text is data in any spelling of base64.
func base64Text(r *rand.Rand, data []byte) []byte {
	encoding := pick(r, base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding)
	text := encoding.EncodeToString(data)
	if end := pick(r, "", "\n", "\r\n"); end != "" {
		text = inLines(text, pick(r, 60, 64, 76), end)
	}
	return []byte(pick(r, "", "\n", " \r\n\t", "\xef\xbb\xbf") + text + pick(r, "", "\n", "\r\n\r\n"))
}

// inLines cuts text into lines.
func inLines(text string, width int, end string) string {
	var b strings.Builder
	for len(text) > 0 {
		n := min(width, len(text))
		b.WriteString(text[:n] + end)
		text = text[n:]
	}
	return b.String()
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

var encoder, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))

func zstandard(data []byte) []byte { return encoder.EncodeAll(data, nil) }

// part is one of a MIME archive.
type part struct {
	contentType, encoding string
	body                  []byte
}

// mimeOf is a MIME archive of parts.
func mimeOf(boundary, end string, parts ...part) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Content-Type: multipart/mixed;%s boundary=%q%sMIME-Version: 1.0%s%s", end+"\t", boundary, end, end, end)
	fmt.Fprintf(&b, "for readers without MIME%s", end)
	for _, p := range parts {
		fmt.Fprintf(&b, "%s--%s%s", end, boundary, end)
		if p.contentType != "" {
			fmt.Fprintf(&b, "content-type: %s%s", p.contentType, end)
		}
		if p.encoding != "" {
			fmt.Fprintf(&b, "Content-Transfer-Encoding: %s%s", p.encoding, end)
		}
		b.WriteString(end)
		b.Write(p.body)
	}
	fmt.Fprintf(&b, "%s--%s--%sthe epilogue%s", end, boundary, end, end)
	return b.Bytes()
}

// mimeArchive is data among unrelated parts.
func mimeArchive(r *rand.Rand, data []byte) []byte {
	p := part{pick(r, "application/octet-stream", "text/plain", "text/plain; charset=utf-8", "application/x-gzip", ""), "", data}
	switch r.IntN(3) {
	case 0:
		p.encoding, p.body = "base64", []byte(inLines(base64.StdEncoding.EncodeToString(data), 76, "\r\n"))
	case 1:
		var b bytes.Buffer
		w := quotedprintable.NewWriter(&b)
		w.Binary = true
		w.Write(data)
		w.Close()
		p.encoding, p.body = "Quoted-Printable", b.Bytes()
	case 2:
		p.encoding = pick(r, "", "7bit", "8bit", "binary")
	}
	parts := []part{
		{"text/x-shellscript", "", []byte("#!/bin/sh\necho hello\n")},
		{"text/cloud-config", "7bit", []byte("#cloud-config\nruncmd: [[true]]\n")},
		{"image/png", "base64", []byte("!!!!")},
	}
	at := r.IntN(len(parts) + 1)
	parts = append(parts[:at:at], append([]part{p}, parts[at:]...)...)
	archive := mimeOf(fmt.Sprintf("==%x==", r.Uint64()), pick(r, "\n", "\r\n"), parts...)
	return append([]byte(pick(r, "", "From nobody Thu Jan  1 00:00:00 1970\n")), archive...)
}

// cloudConfig writes data at a path, after an empty entry as this module's renderer does, in any of the encodings.
func cloudConfig(r *rand.Rand, data []byte) ([]byte, string) {
	place := pick(r, places...)
	lines := func(b []byte) string {
		return "|\n    " + strings.TrimSpace(strings.ReplaceAll(inLines(base64.StdEncoding.EncodeToString(b), 76, "\n"), "\n", "\n    "))
	}
	content := pick(r,
		"encoding: "+pick(r, "b64", "base64")+"\n  content: "+lines(data),
		"encoding: b64\n  content: "+base64.StdEncoding.EncodeToString(data),
		"encoding: "+pick(r, "gz+b64", "gz+base64", "gzip+base64", "gzip+b64")+"\n  content: "+lines(gzipped(data)),
		"encoding: "+pick(r, "gz", "gzip")+"\n  content: !!binary "+lines(gzipped(data)),
		"content: !!binary "+lines(data),
		"encoding: b64\n  content: >\n    "+strings.TrimPrefix(lines(data), "|\n    "),
	)
	if quoted, err := json.Marshal(string(data)); err == nil && utf8.Valid(data) && r.IntN(2) == 0 {
		content = "content: " + string(quoted)
	}
	return []byte("#cloud-config\nbase: &base {a: b}\nother:\n  <<: *base\nwrite_files:\n- path: " + place +
		"\n  permissions: \"0600\"\n- path: /etc/motd\n  content: hello\n- path: " + place + "\n  " + content +
		pick(r, "", "\n  defer: true", "\n  append: true") + "\n"), place
}

// boothook writes data at a path, in a script of any known form.
func boothook(r *rand.Rand, data []byte) ([]byte, string) {
	place := pick(r, places...)
	const other = "put '/etc/other' <<'SLIPWAY_END'\nput '/etc/slipway/config.json' <<'SLIPWAY_END'\nSLIPWAY_END\n"
	start, end := "put '"+place+"' <<'SLIPWAY_END'", "SLIPWAY_END"
	switch r.IntN(3) {
	case 1:
		start, end = "cat <<'EOF' | base64 -d >"+place, "EOF"
	case 2:
		start, end, data = "cat <<'EOF' | base64 -d | gzip -d >"+pick(r, "", " ")+place, "EOF", gzipped(data)
	}
	text := other + start + "\n" + inLines(base64.StdEncoding.EncodeToString(data), 76, "\n") + end + "\necho done\n"
	text = pick(r, "#cloud-boothook\n#!/bin/sh\n", "#!/bin/bash\nset -e\n") + text
	if r.IntN(2) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return []byte(text), place
}

// ignition writes data at a path, in any spelling of a data URL.
func ignition(r *rand.Rand, data []byte) ([]byte, string) {
	place := pick(r, places...)
	compression := ""
	if r.IntN(3) == 0 {
		compression, data = "gzip", gzipped(data)
	}
	source := "data:;base64," + base64.StdEncoding.EncodeToString(data)
	switch r.IntN(3) {
	case 1:
		source = "data:text/plain;charset=utf-8;base64," + strings.ReplaceAll(base64.StdEncoding.EncodeToString(data), "+", "%2B")
	case 2:
		source = "data:," + percentEncoded(data)
	}
	file := map[string]any{"path": place, "contents": map[string]any{"source": source, "compression": compression}}
	config, _ := json.Marshal(map[string]any{
		"ignition": map[string]any{"version": "3.4.0"},
		"storage": map[string]any{"files": []any{
			map[string]any{"path": "/etc/motd", "contents": map[string]any{"source": "https://example.com/motd"}}, file,
		}},
	})
	return config, place
}

// percentEncoded escapes each byte that is not a letter, so that a plus keeps its meaning.
func percentEncoded(data []byte) string {
	var b strings.Builder
	for _, c := range data {
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c == '+' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
