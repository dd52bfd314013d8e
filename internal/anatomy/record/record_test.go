package record

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/anatomy/gathered"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// samples are the documents below testdata, by the folder of their kind.
func samples(t testing.TB) map[string][]Document {
	t.Helper()
	found := make(map[string][]Document)
	err := filepath.WalkDir("testdata", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".golden") || strings.Contains(path, "fuzz") {
			return err
		}
		data, err := os.ReadFile(path)
		name := filepath.ToSlash(strings.TrimPrefix(path, "testdata/"))
		kind, _, _ := strings.Cut(name, "/")
		found[kind] = append(found[kind], Document{Name: name, Data: data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Each kind of document has samples, and each sample's records are as recorded.
func TestKindsReadTheirDocuments(t *testing.T) {
	all := samples(t)
	for _, kind := range Kinds {
		if len(all[kind.Name]) == 0 {
			t.Errorf("no sample of %s", kind.Name)
		}
		for _, d := range all[kind.Name] {
			if got := kindOf(d); got == nil || got.Name != kind.Name {
				t.Errorf("%s is of kind %v", d.Name, got)
			}
			got := dump(Read([]Document{d}, Options{}))
			golden := filepath.Join("testdata", d.Name+".golden")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s: records\n%s\nwant\n%s", d.Name, got, want)
			}
		}
	}
}

// dump writes records as text, one in a line.
func dump(r *Records) []byte {
	var out bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	if r.Host != "" || r.Boot != "" {
		line("host %q boot %q", r.Host, r.Boot)
	}
	for _, b := range r.Boots {
		line("boot %s from %d to %d", b.ID, b.First, b.Last)
	}
	for _, p := range r.Pairs {
		line("pair %d = %d, to %d", p.Monotonic, p.Wall, p.Accuracy)
	}
	for _, s := range r.Spans {
		text := fmt.Sprintf("span %s %q from %s to %s", s.Stage, s.Name, moment(s.Begin), moment(s.End))
		for _, part := range []struct{ name, value string }{{"in", s.In}, {"by", s.By}, {"starts", s.Starts}, {"for", s.For}, {"after", strings.Join(s.After, " ")}, {"detail", s.Detail}} {
			if part.value != "" {
				text += fmt.Sprintf(", %s %q", part.name, part.value)
			}
		}
		if s.Failed {
			text += ", failed"
		}
		line("%s", text)
	}
	for _, e := range r.Events {
		line("event %s %q at %s %q", e.Stage, e.Name, moment(e.At), e.Detail)
	}
	for _, f := range r.Files {
		line("file %q by %q at %s", f.Path, f.By, moment(f.At))
	}
	for _, x := range r.Runs {
		line("run %q by %q at %s", x.Path, x.By, moment(x.At))
	}
	for _, f := range r.Facts {
		line("fact %s %q", f.Stage, f.Text)
	}
	for _, s := range r.Sources {
		line("source %q %s: %d records, %d of others", s.Document, s.Kind, s.Records, s.OtherBoots)
	}
	for _, u := range r.Unread {
		line("unread %s:%d, %d bytes: %q", u.Document, u.Line, u.Bytes, u.Reason)
	}
	return out.Bytes()
}

func moment(m Moment) string {
	switch {
	case m.IsMonotonic():
		return fmt.Sprintf("+%d", m.Us)
	case m.IsWall():
		return fmt.Sprintf("@%d/%d", m.Us, m.Accuracy)
	}
	return "?"
}

// check verifies what holds for the records of any documents.
func check(t *testing.T, r *Records) {
	t.Helper()
	text := string(dump(r))
	if !utf8.ValidString(text) {
		t.Error("the records are not UTF-8")
	}
	for _, c := range text {
		if c != '\n' && !unicode.IsPrint(c) {
			t.Fatalf("the records have the character %q", c)
		}
	}
	if len(r.Unread) > maxUnread {
		t.Errorf("%d unread parts", len(r.Unread))
	}
	for _, s := range r.Spans {
		if len(s.Name) > maxText || len(s.Detail) > maxText {
			t.Errorf("a text of %d and %d bytes", len(s.Name), len(s.Detail))
		}
	}
}

// What a node hands over gives the same records as the whole documents.
func TestReducedDocumentsGiveTheSameRecords(t *testing.T) {
	for kind, documents := range samples(t) {
		if kind == "journal" || kind == "journal-export" || kind == "cluster" || kind == "resource" {
			continue // journalctl reduces the journal, and the machine has no such document
		}
		for _, d := range documents {
			reduced := Document{Name: d.Name, Data: []byte(gathered.Reduce(d.Name, d.Data))}
			want, got := Read([]Document{d}, Options{}), Read([]Document{reduced}, Options{})
			want.Sources, got.Sources, want.Unread, got.Unread = nil, nil, nil, nil
			if w, g := string(dump(want)), string(dump(got)); w != g {
				t.Errorf("%s: records of the reduced document\n%s\nwant\n%s", d.Name, g, w)
			}
		}
	}
}

// A node's journal has the records of all programs whose messages mark an event.
func TestMarksAreGathered(t *testing.T) {
	programs := strings.Join(gathered.Programs, " ")
	for _, m := range marks {
		if !strings.Contains(programs, m.identifier) {
			t.Errorf("%s is not gathered", m.identifier)
		}
	}
}
