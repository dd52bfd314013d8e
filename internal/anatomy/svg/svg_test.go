package svg

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/anatomy"
)

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

// An empty timeline has a picture, too.
func TestPictureOfNothing(t *testing.T) {
	if err := xml.Unmarshal(Picture(&anatomy.Timeline{}), new(struct{})); err != nil {
		t.Error(err)
	}
}
