package toml_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	burntsushi "github.com/BurntSushi/toml"

	"github.com/slipway-dev/slipway/internal/toml"
)

// example has the syntax of containerd's configuration.
const example = `# a comment
version = 3
oom_score = -999
disabled_plugins = []
imports = ["/etc/a.toml", 'C:\b']
empty = ""

[plugins."io.containerd.cri.v1.images"]
max_concurrent_downloads = 0x10
ratio = 1e3
on = true

[plugins.'io.containerd.cri.v1.images'.registry.headers]
"X-Header" = ["a\u007f\t\"b\"", """
two
lines"""]

[plugins."io.containerd.cri.v1.runtime".none]

[[proxies]]
name = "a"
inline = {x = 1, "y z" = [true, [2.5, inf]]}

[[proxies]]
`

const written = `disabled_plugins = []
empty = ""
imports = ["/etc/a.toml", "C:\\b"]
oom_score = -999
proxies = [{inline = {x = 1, "y z" = [true, [2.5, inf]]}, name = "a"}, {}]
version = 3

[plugins."io.containerd.cri.v1.images"]
max_concurrent_downloads = 16
on = true
ratio = 1000.0

[plugins."io.containerd.cri.v1.images".registry.headers]
"X-Header" = ["a\u007f\t\"b\"", "two\nlines"]

[plugins."io.containerd.cri.v1.runtime".none]
`

func parse(t testing.TB, text string) *toml.Table {
	t.Helper()
	table, err := toml.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return table
}

func TestParseAndWrite(t *testing.T) {
	if got := string(parse(t, example).Bytes()); got != written {
		t.Errorf("got\n%s\nwant\n%s", got, written)
	}
}

// A table is written in the order of setting, its values before its nested tables.
func TestOrder(t *testing.T) {
	var doc toml.Table
	doc.Set("v", "b", "table", "z")
	doc.Set(int64(2), "z")
	doc.Set(true, "a-b")
	doc.At("b", "quoted").Quoted = true
	doc.Set(math.Copysign(0, -1), "b", "quoted", "plain")
	doc.Set(false, "b", "table", "y")
	doc.Set(int64(1), "z")
	const want = "z = 1\n\"a-b\" = true\n\n[b.table]\nz = \"v\"\ny = false\n\n[b.quoted]\n\"plain\" = -0.0\n"
	if got := string(doc.Bytes()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if doc.Get("b", "table", "z") != "v" || doc.Get("b", "none", "z") != nil || doc.Get("z", "a") != nil {
		t.Error("another value is read than was set")
	}
}

func TestMerge(t *testing.T) {
	for _, c := range []struct {
		name, base, over, want string
		conflict               []string
	}{
		{"nothing", "a = 1\n", "", "a = 1\n", nil},
		{"over nothing", "", "a = 1\n", "a = 1\n", nil},
		{"value", "a = 1\nb = 2\n", "a = \"x\"\n", "a = \"x\"\nb = 2\n", nil},
		{"list", "a = [1, 2]\n", "a = [3]\n", "a = [3]\n", nil},
		{"table", "[a.b]\nc = 1\n", "[a.b]\nd = 2\n[a.e]\nf = 3\n", "[a.b]\nc = 1\nd = 2\n\n[a.e]\nf = 3\n", nil},
		{"value over table", "[a.b]\nc = 1\n", "[a]\nb = 1\n", "", []string{"a", "b"}},
		{"table over value", "[a]\nb = 1\n", "[a.b]\nc = 1\n", "", []string{"a", "b"}},
	} {
		base := parse(t, c.base)
		conflict := base.Merge(parse(t, c.over))
		if got := string(base.Bytes()); !slices.Equal(conflict, c.conflict) || c.conflict == nil && got != c.want {
			t.Errorf("%s: conflict %q, got\n%s\nwant\n%s", c.name, conflict, got, c.want)
		}
	}
}

// A syntax error has its position, and nothing of the text.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		text         string
		line, column int
	}{
		{"é = 1", 1, 1}, {"a = \"é\" hunter2", 1, 8}, {"a = 1\n\nhunter2", 3, 7}, {"a = 1\r\na = hunter2", 2, 5}, {"[hunter2", 1, 8}, {"a = \"\xff\"", 1, 5},
	} {
		_, err := toml.Parse(c.text)
		at, ok := errors.AsType[*toml.SyntaxError](err)
		if !ok {
			t.Errorf("%q: %v", c.text, err)
		} else if at.Line != c.line || at.Column != c.column || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}

func TestLimits(t *testing.T) {
	nested := func(depth int) string { return "a = " + strings.Repeat("[", depth) + strings.Repeat("]", depth) + "\n" }
	long := func(size int) string { return "a = 1\n#" + strings.Repeat("x", size-7) }
	for name, c := range map[string]struct {
		text string
		fits bool
	}{
		"size": {long(64 << 10), true}, "over the size": {long(64<<10 + 1), false},
		"depth": {nested(31), true}, "too deep": {nested(32), false}, "far too deep": {nested(32000), false},
		"tables": {"[" + strings.Repeat("a.", 30) + "a]\n", true}, "too deep tables": {"[" + strings.Repeat("a.", 31) + "a]\n", false},
		"far too deep tables": {"[" + strings.Repeat("a.", 32000) + "a]\n", false},
		"far too deep keys":   {strings.Repeat("a.", 32000) + "a = 1\n", false},
		"inline tables":       {strings.Repeat("a={", 16000), false},
		"no key":              {"a = \"" + strings.Repeat("a.[", 100) + "\" # " + strings.Repeat("a.{", 100) + "\nb = '''" + strings.Repeat("\n.[\"", 100) + "'''\n", true},
		"a date":              {"a = 2026-01-01\n", false}, "a time": {"a = [10:00:00]\n", false},
	} {
		if _, err := toml.Parse(c.text); (err == nil) != c.fits {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// oracle is a document as the library parses it, or nil.
func oracle(text string) map[string]any {
	var values map[string]any
	if _, err := burntsushi.Decode(text, &values); err != nil {
		return nil
	}
	return values
}

// A document that was parsed and written is parsed equally by the library, is written the same again, and stays the
// same when it is merged over nothing or over itself.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", example, written, "a.b.c = 1\n", "a = [{b = [[1.5e300, -0.0, nan]]}]", "'' = ''\n[\"\".\"\"]", "[a]\n[a.b]\n[c]\nd.e = 1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		table, err := toml.Parse(text)
		if err != nil {
			return
		}
		out := table.Bytes()
		if want, got := oracle(text), oracle(string(out)); !same(want, got) {
			t.Fatalf("%q is written as %q", text, out)
		}
		merged := new(toml.Table)
		for range 2 {
			if conflict := merged.Merge(parse(t, string(out))); conflict != nil || string(merged.Bytes()) != string(out) {
				t.Fatalf("%q is merged as %q, conflict %q", out, merged.Bytes(), conflict)
			}
		}
	})
}

// same compares values; NaN equals NaN, and a list of tables equals a list of values that are tables.
func same(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if x.Kind() == reflect.Interface || !x.IsValid() || !y.IsValid() {
		return x.IsValid() == y.IsValid()
	}
	switch {
	case x.Kind() != y.Kind():
		return false
	case x.Kind() == reflect.Float64:
		return x.Float() == y.Float() || math.IsNaN(x.Float()) && math.IsNaN(y.Float())
	case x.Kind() == reflect.Slice:
		for i := range min(x.Len(), y.Len()) {
			if !same(x.Index(i).Interface(), y.Index(i).Interface()) {
				return false
			}
		}
		return x.Len() == y.Len()
	case x.Kind() == reflect.Map:
		for _, key := range x.MapKeys() {
			if !y.MapIndex(key).IsValid() || !same(x.MapIndex(key).Interface(), y.MapIndex(key).Interface()) {
				return false
			}
		}
		return x.Len() == y.Len()
	}
	return reflect.DeepEqual(a, b)
}
