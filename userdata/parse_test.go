package userdata

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/ignition"
)

// parsed is the content of a document, read by other code than the code that wrote it.
type parsed struct {
	script, config string            // the parts of a MIME document
	files          map[string][]byte // the written files, by path
}

// contract rebuilds the contract.
func (p parsed) contract(t testing.TB) Contract {
	t.Helper()
	var c Contract
	for path, content := range p.files {
		if path != FeaturesPath {
			c.Path, c.Document = path, content
			continue
		}
		c.Features = map[string]string{}
		for line := range strings.Lines(string(content)) {
			name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			if !ok {
				t.Fatalf("features: no = in %q", line)
			}
			c.Features[name] = value
		}
	}
	return c
}

// same reports whether two contracts have the same content.
func same(a, b Contract) bool {
	return a.Path == b.Path && bytes.Equal(a.Document, b.Document) && maps.Equal(a.Features, b.Features)
}

var putBlock = regexp.MustCompile(`(?m)^put '([^']+)' <<'SLIPWAY_END'\n([A-Za-z0-9+/=\n]*)^SLIPWAY_END\n`)

// parseMIME reads the plain MIME document as a mail program would.
func parseMIME(t testing.TB, document []byte) parsed {
	t.Helper()
	message, err := mail.ReadMessage(bytes.NewReader(document))
	if err != nil {
		t.Fatalf("not a message: %v", err)
	}
	if got := message.Header.Get("MIME-Version"); got != "1.0" {
		t.Fatalf("MIME-Version %q", got)
	}
	kind, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/mixed" {
		t.Fatalf("Content-Type %q, %v", kind, err)
	}
	reader := multipart.NewReader(message.Body, params["boundary"])
	var parts []string
	for _, want := range []string{"text/cloud-boothook", "text/cloud-config"} {
		part, err := reader.NextRawPart()
		if err != nil {
			t.Fatalf("no part %s: %v", want, err)
		}
		wantHeader := map[string][]string{
			"Content-Type":              {want + `; charset="utf-8"`},
			"Mime-Version":              {"1.0"},
			"Content-Transfer-Encoding": {"7bit"},
		}
		if !maps.EqualFunc(part.Header, wantHeader, slices.Equal) {
			t.Fatalf("header of the part %s: %q", want, part.Header)
		}
		body, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		check7bit(t, body)
		if strings.Contains(string(body), params["boundary"]) {
			t.Fatalf("the boundary is in the part %s", want)
		}
		parts = append(parts, string(body))
	}
	if _, err := reader.NextRawPart(); err != io.EOF {
		t.Fatalf("a third part, or %v", err)
	}
	p := parsed{script: parts[0], config: parts[1], files: map[string][]byte{}}
	for _, block := range putBlock.FindAllStringSubmatch(p.script, -1) {
		content, err := base64.StdEncoding.DecodeString(block[2]) // line ends are skipped
		if err != nil {
			t.Fatalf("%s: %v", block[1], err)
		}
		p.files[block[1]] = content
	}
	return p
}

// check7bit checks the rules of Content-Transfer-Encoding, and that no line ends in CRLF, because
// the script would then not run.
func check7bit(t testing.TB, body []byte) {
	t.Helper()
	for line := range bytes.Lines(body) {
		if len(line) > 998 {
			t.Fatalf("a line of %d characters", len(line))
		}
	}
	for _, ch := range body {
		if ch == 0 || ch == '\r' || ch >= 0x80 {
			t.Fatalf("byte %#x in a part", ch)
		}
	}
}

// parseCustomData reads custom data as Azure's API takes it.
func parseCustomData(t testing.TB, text string) parsed {
	t.Helper()
	document, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return parseMIME(t, document)
}

var writeFile = regexp.MustCompile(`(?m)^- path: (\S+)\n  owner: root:root\n  permissions: "0600"\n` +
	`- path: (\S+)\n  owner: root:root\n  permissions: "0600"\n  encoding: b64\n  content: "([A-Za-z0-9+/=]*)"\n`)

// parseCloudConfig parses the plain cloud-config, which must have one exact form.
func parseCloudConfig(t testing.TB, document []byte) parsed {
	t.Helper()
	rest, ok := strings.CutPrefix(string(document), "#cloud-config\nwrite_files:\n")
	if !ok {
		t.Fatalf("not a cloud-config: %.40q", document)
	}
	p := parsed{files: map[string][]byte{}}
	for _, entry := range writeFile.FindAllStringSubmatch(rest, -1) {
		content, err := base64.StdEncoding.Strict().DecodeString(entry[3])
		if err != nil || entry[1] != entry[2] {
			t.Fatalf("%s, %s: %v", entry[1], entry[2], err)
		}
		p.files[entry[1]] = content
	}
	p.config = writeFile.ReplaceAllString(rest, "")
	return p
}

// parseIgnition parses an Ignition config, and refuses unknown fields.
func parseIgnition(t testing.TB, document []byte) parsed {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.DisallowUnknownFields()
	var config ignition.Config
	if err := decoder.Decode(&config); err != nil {
		t.Fatal(err)
	}
	if config.Ignition.Version != "3.4.0" {
		t.Fatalf("version %q", config.Ignition.Version)
	}
	p := parsed{files: map[string][]byte{}}
	for _, file := range config.Storage.Files {
		text, ok := strings.CutPrefix(file.Contents.Source, "data:;base64,")
		content, err := base64.StdEncoding.Strict().DecodeString(text)
		if !ok || err != nil || file.Mode != 384 || !file.Overwrite {
			t.Fatalf("file %s: mode %d, overwrite %t, %v", file.Path, file.Mode, file.Overwrite, err)
		}
		p.files[file.Path] = content
	}
	for _, unit := range config.Systemd.Units {
		p.config += fmt.Sprintf("%s enabled=%t\n", unit.Name, unit.Enabled != nil && *unit.Enabled)
	}
	return p
}
