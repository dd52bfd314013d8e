package svg

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/anatomy"
	"github.com/slipway-dev/slipway/internal/anatomy/record"
)

var update = flag.Bool("update", false, "draw the documents' pictures again")

// hostile are names that a picture must not take for markup.
var hostile = []string{`</text><script>alert(1)</script>`, `"><image href="https://x/"/>`, "a\x1b[2Jb\x00c", "\xff\xfe", `&amp;<!--`, strings.Repeat("long ", 200)}

func picture(t *testing.T) string {
	t.Helper()
	timeline := &anatomy.Timeline{Host: hostile[0], Goal: hostile[1], GoalUs: 9_000_000, Waits: []anatomy.Wait{{Sentence: hostile[2]}}}
	for i, name := range hostile {
		timeline.Spans = append(timeline.Spans, anatomy.Span{ID: i, Name: name, StartUs: int64(i) * 1_000_000, EndUs: int64(i+1) * 1_000_000, In: "x", Failed: i%2 == 0, Critical: i == 1})
	}
	return string(Picture(timeline))
}

// A picture is one well-formed SVG with shapes and texts alone.
func TestPictureHasNoMarkupOfNames(t *testing.T) {
	d := xml.NewDecoder(strings.NewReader(picture(t)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		element, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch element.Name.Local {
		case "svg", "title", "style", "rect", "line", "text":
		default:
			t.Errorf("the picture has the element %s", element.Name.Local)
		}
		for _, a := range element.Attr {
			if name := strings.ToLower(a.Name.Local); strings.HasPrefix(name, "on") || strings.Contains(name, "href") {
				t.Errorf("%s has the attribute %s", element.Name.Local, name)
			}
		}
	}
}

// The picture of docs/anatomy.md is that of its example.
func TestPictureOfTheDocument(t *testing.T) {
	const path = "../../../docs/anatomy.svg"
	files := os.DirFS("../../../examples/anatomy/aks")
	var documents []anatomy.Document
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !record.Wanted(name) {
			return err
		}
		data, err := fs.ReadFile(files, name)
		documents = append(documents, anatomy.Document{Name: name, Data: data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	got := Picture(anatomy.Read(documents, anatomy.Options{}))
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not the picture of its example: %v; run the tests of this package with -update", path, err)
	}
}

// An empty timeline has a picture, too.
func TestPictureOfNothing(t *testing.T) {
	if err := xml.Unmarshal(Picture(&anatomy.Timeline{}), new(struct{})); err != nil {
		t.Error(err)
	}
}
