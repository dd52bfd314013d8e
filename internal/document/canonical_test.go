package document_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
)

// TestCanonicalSame: the files in one folder of testdata/same are one document in different
// spellings. They have the same canonical form, which is its own canonical form.
func TestCanonicalSame(t *testing.T) {
	folders, err := filepath.Glob("testdata/same/*")
	if err != nil || len(folders) == 0 {
		t.Fatal("no documents", err)
	}
	for _, folder := range folders {
		files, err := filepath.Glob(folder + "/*")
		if err != nil || len(files) < 2 {
			t.Fatalf("%s: want two files or more, have %v (%v)", folder, files, err)
		}
		want := ""
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := canonical(t, data)
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s: got\n%s\nwant, as in %s,\n%s", file, got, files[0], want)
			}
			if again := canonical(t, []byte(got)); again != got {
				t.Errorf("%s: got\n%s\nafter another round, want\n%s", file, again, got)
			}
		}
	}
}

func canonical(t *testing.T, data []byte) string {
	t.Helper()
	n, err := document.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return string(n.AppendJSON(nil))
}

func TestGet(t *testing.T) {
	n, err := document.Parse([]byte(`{"a":{"b":"x"},"c":null}`))
	if err != nil {
		t.Fatal(err)
	}
	a, ok := n.Get("a")
	if !ok {
		t.Fatal("a is not there")
	}
	if b, ok := a.Get("b"); !ok || b.Text != "x" {
		t.Errorf("got %v, %v for b", b, ok)
	}
	if c, ok := n.Get("c"); !ok || c.Kind != document.Null {
		t.Errorf("got %v, %v for c", c, ok)
	}
	for _, parent := range []*document.Node{nil, n, {Kind: document.List}} {
		if _, ok := parent.Get("b"); ok {
			t.Errorf("%v has a b", parent)
		}
	}
}

func TestPaths(t *testing.T) {
	for name, want := range map[string]string{
		"a":           "$.a",
		"a_B9":        "$.a_B9",
		"_":           "$._",
		"":            `$[""]`,
		"9":           `$["9"]`,
		"a-b":         `$["a-b"]`,
		"a.b/c":       `$["a.b/c"]`,
		"--v":         `$["--v"]`,
		"a\"b":        `$["a\"b"]`,
		"a\nb":        `$["a\nb"]`,
		"é":           `$["é"]`,
		"a\x00\xffb":  `$["a\x00\xffb"]`,
		"\u212a":      "$[\"\u212a\"]", // the Kelvin sign, whose lower case is k
		"a\u2028next": `$["a\u2028next"]`,
	} {
		if got := document.FieldPath("$", name); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := document.IndexPath("$.a", 10); got != "$.a[10]" {
		t.Errorf("got %s", got)
	}
}

// TestAny compares with the values of encoding/json.
func TestAny(t *testing.T) {
	n, err := document.Parse([]byte(`{"n":null,"b":true,"i":1.50,"s":"x","l":[1,null],"m":{},"e":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `map[b:true e:[] i:1.50 l:[1 <nil>] m:map[] n:<nil> s:x]`
	if got := fmt.Sprint(n.Any()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
