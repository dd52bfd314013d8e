package cloudconfig

import (
	"encoding/base64"
	"slices"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// entry is one file, in YAML's terms.
type entry struct {
	Path, Owner, Permissions, Encoding, Content string
}

// For every content of a file, and all words of a command, a YAML reader finds the same.
func FuzzDocument(f *testing.F) {
	for _, seed := range []struct{ content, word string }{
		{"a\nb\n", "--now"}, {" a\n", "yes"}, {"a\n\n b\n", "1e3"}, {"\ta: |\n", "~"}, {"a", ""}, {"", "-"}, {"\n", "a: b"},
		{"é\n", "é\x85\u2028"}, {"#cloud-config\n", "{{ a }}"}, {"a\r\n", "'"}, {"\x00", "\"\\$%`\n"}, {"---\n", "---"}, {"...\n", "!!x"}, {"%x\n", "&a"},
	} {
		f.Add(seed.content, seed.word, uint32(0o600))
		f.Add(seed.content, seed.word, uint32(0o644))
	}
	f.Fuzz(func(t *testing.T, content, word string, mode uint32) {
		if !utf8.ValidString(word) {
			return // all paths and arguments in a plan are valid UTF-8 text
		}
		mode &= 0o7777
		document := []byte(Header + FilesHeader)
		document = AppendFile(document, "/"+word, mode, []byte(content))
		document = AppendEncoded(document, "/etc/b", mode, []byte(content))
		document = AppendCommands(document, "runcmd", []string{"echo", word}, []string{word})
		var read struct {
			Files    []entry    `yaml:"write_files"`
			Commands [][]string `yaml:"runcmd"`
		}
		if err := yaml.Unmarshal(document, &read); err != nil {
			t.Fatalf("%v\n%s", err, document)
		}
		if want := [][]string{{"echo", word}, {word}}; !slices.EqualFunc(read.Commands, want, slices.Equal) {
			t.Fatalf("%q, want %q\n%s", read.Commands, want, document)
		}
		var empty, whole int
		for _, e := range read.Files {
			found := []byte(e.Content)
			if e.Encoding == "b64" {
				var err error
				if found, err = base64.StdEncoding.DecodeString(e.Content); err != nil {
					t.Fatal(err)
				}
			}
			switch {
			case e.Path != "/"+word && e.Path != "/etc/b", e.Owner != "root:root":
				t.Fatalf("%+v\n%s", e, document)
			case e.Encoding == "" && e.Content == "":
				empty++
			case string(found) != content:
				t.Fatalf("%q, want %q\n%s", found, content, document)
			default:
				whole++
			}
		}
		private := mode&0o044 != 0o044
		if whole != 2 || private != (empty == 2) {
			t.Fatalf("%d files with their content, %d without\n%s", whole, empty, document)
		}
	})
}
