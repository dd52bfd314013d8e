package document_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
)

// sample has a field of each Go kind that Decode supports.
type sample struct {
	Text     string            `json:"text"`
	Named    named             `json:"named"`
	Flag     bool              `json:"flag"`
	Int      int               `json:"int"`
	Int32    int32             `json:"int32"`
	Int64    int64             `json:"int64"`
	Float    float64           `json:"float"`
	Color    color             `json:"color"`
	Upper    upper             `json:"upper"`
	Any      any               `json:"any"`
	Struct   item              `json:"struct"`
	PText    *string           `json:"ptext"`
	PFlag    *bool             `json:"pflag"`
	PInt32   *int32            `json:"pint32"`
	PUpper   *upper            `json:"pupper"`
	PStruct  *item             `json:"pstruct"`
	Texts    []string          `json:"texts"`
	Structs  []item            `json:"structs"`
	Pointers []*item           `json:"pointers"`
	Map      map[string]string `json:"map"`
	Uppers   map[string]upper  `json:"uppers"`
	Items    map[string]item   `json:"items"`
	Nested   map[string]inner  `json:"nested"`
	Data     map[string]any    `json:"data"`

	Untagged string
	Hidden   string `json:"-"`
}

type (
	named string
	color int32
	inner map[string]string
	item  struct {
		Name string `json:"name"`
		Size int32  `json:"size"`
	}
	// upper accepts only upper case text.
	upper struct{ text string }
)

func (u *upper) UnmarshalText(text []byte) error {
	if s := string(text); s == strings.ToUpper(s) {
		u.text = s
		return nil
	}
	return errors.New("is not in upper case")
}

func (u upper) MarshalText() ([]byte, error) { return []byte(u.text), nil }

func colors(t reflect.Type, name string) (value int64, known, ok bool) {
	if t != reflect.TypeFor[color]() {
		return 0, false, false
	}
	i := slices.Index([]string{"NONE", "RED"}, name)
	if j := slices.Index([]string{"0", "1"}, name); i < 0 {
		i = j
	}
	return int64(i), i >= 0, true
}

// decoded is the result for one document.
type decoded struct {
	sample
	reports []string
}

func decode(t *testing.T, doc string) decoded {
	t.Helper()
	n, err := document.Parse([]byte(doc))
	if err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	var d decoded
	document.Decode(n, &d.sample, document.Options{
		Names:  document.JSONNames,
		Enum:   colors,
		Report: func(f document.Fault) { d.reports = append(d.reports, f.Path+": "+f.Reason) },
	})
	return d
}

// TestDecodeMatrix puts a literal of each kind into a field of each Go kind. The fields accept the
// values that are listed here, with the result as JSON. Every other value is reported once, under
// the field's path, and leaves the field unchanged.
func TestDecodeMatrix(t *testing.T) {
	literals := []string{`true`, `7`, `1.5`, `"text"`, `"UPPER"`, `"7"`, `"1.5"`, `"true"`, `"RED"`, `[]`, `{}`}
	texts := map[string]string{`"text"`: `"text"`, `"UPPER"`: `"UPPER"`, `"7"`: `"7"`, `"1.5"`: `"1.5"`, `"true"`: `"true"`, `"RED"`: `"RED"`}
	uppers := map[string]string{`"UPPER"`: `"UPPER"`, `"7"`: `"7"`, `"1.5"`: `"1.5"`, `"RED"`: `"RED"`}
	integers := map[string]string{`7`: `7`, `"7"`: `7`}
	flags := map[string]string{`true`: `true`}
	lists := map[string]string{`[]`: `[]`}
	maps := map[string]string{`{}`: `{}`}
	items := map[string]string{`{}`: `{"name":"","size":0}`}
	everything := make(map[string]string)
	for _, literal := range literals {
		everything[literal] = literal
	}
	for field, accepted := range map[string]map[string]string{
		"text": texts, "named": texts, "ptext": texts,
		"flag": flags, "pflag": flags,
		"int": integers, "int32": integers, "int64": integers, "pint32": integers,
		"float": {`7`: `7`, `1.5`: `1.5`, `"7"`: `7`, `"1.5"`: `1.5`},
		"color": {`"RED"`: `1`},
		"upper": uppers, "pupper": uppers,
		"any":    everything,
		"struct": items, "pstruct": items,
		"texts": lists, "structs": lists, "pointers": lists,
		"map": maps, "uppers": maps, "items": maps, "nested": maps, "data": maps,
	} {
		for _, literal := range literals {
			d := decode(t, fmt.Sprintf(`{%q:%s}`, field, literal))
			want, ok := accepted[literal]
			if !ok {
				want = value(t, new(sample), field)
			}
			if got := value(t, &d.sample, field); got != want {
				t.Errorf("%s: %s became %s, want %s", field, literal, got, want)
			}
			if ok && len(d.reports) > 0 || !ok && (len(d.reports) != 1 || !strings.HasPrefix(d.reports[0], "$."+field+": ")) {
				t.Errorf("%s: %s is reported as %q", field, literal, d.reports)
			}
		}
		if d := decode(t, fmt.Sprintf(`{%q:null}`, field)); !reflect.DeepEqual(d, decoded{}) {
			t.Errorf("%s: null is not absent: %+v", field, d)
		}
	}
}

// value is the field with a name, as JSON.
func value(t *testing.T, s *sample, name string) string {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	return string(fields[name])
}

func TestDecodeReports(t *testing.T) {
	cases := []struct {
		name, doc string
		want      []string
	}{
		{"string for a map", `{"map":"x"}`, []string{"$.map: is a string, want a map"}},
		{"map for a list", `{"texts":{}}`, []string{"$.texts: is a map, want a list"}},
		{"number for a string", `{"text":1.30}`, []string{"$.text: is a number, want a string: put it in quotes"}},
		{"boolean for a string", `{"text":true}`, []string{"$.text: is a boolean, want a string: put it in quotes"}},
		{"number for a text", `{"upper":7}`, []string{"$.upper: is a number, want a string: put it in quotes"}},
		{"list for a text", `{"upper":[]}`, []string{"$.upper: is a list, want a string"}},
		{"text of another form", `{"upper":"x"}`, []string{"$.upper: is not in upper case"}},
		{"number for a boolean", `{"flag":1}`, []string{"$.flag: is a number, want a boolean"}},
		{"string for a boolean", `{"flag":"true"}`, []string{"$.flag: is a string, want a boolean"}},
		{"fraction for an integer", `{"int":1.5}`, []string{"$.int: is a number (1.5), want an integer"}},
		{"list for an integer", `{"int":[1]}`, []string{"$.int: is a list, want an integer"}},
		{"string for an integer", `{"int":"x"}`, []string{"$.int: is a string, want an integer"}},
		{"string for a number", `{"float":"x"}`, []string{"$.float: is a string, want a number"}},
		{"unknown name of a value", `{"color":"BLUE"}`, []string{"$.color: unknown value, ignored"}},
		{"unknown number of a value", `{"color":7}`, []string{"$.color: unknown value, ignored"}},
		{"boolean for a value", `{"color":true}`, []string{"$.color: is a boolean, want the name of a value"}},
		{"within a list", `{"structs":[{"name":1},{"size":"x"}]}`, []string{"$.structs[0].name: is a number, want a string: put it in quotes", "$.structs[1].size: is a string, want an integer"}},
		{"item of a list", `{"texts":["a",2,"c"]}`, []string{"$.texts[1]: is a number, want a string: put it in quotes"}},
		{"entry of a map", `{"map":{"a.b":[]}}`, []string{`$.map["a.b"]: is a list, want a string`}},
		{"within a map", `{"items":{"x":{"size":{}}},"nested":{"y":{"z":1}}}`, []string{"$.items.x.size: is a map, want an integer", "$.nested.y.z: is a number, want a string: put it in quotes"}},
		{"null in a list", `{"texts":[null],"structs":[{"name":null},null]}`, []string{`$.texts[0]: is null; write an empty text as ""`, `$.structs[1]: is null; write an empty text as ""`}},
		{"null in a map", `{"map":{"a":null},"items":{"b":null}}`, []string{`$.map.a: is null; write an empty text as ""`, `$.items.b: is null; write an empty text as ""`}},
		{"null in any data", `{"data":{"a":null,"b":[null]},"any":[null]}`, nil},
		{"within a pointer", `{"pstruct":{"size":true}}`, []string{"$.pstruct.size: is a boolean, want an integer"}},

		{"unknown field", `{"zzzzzzz":1}`, []string{"$.zzzzzzz: unknown field, ignored"}},
		{"unknown field with a near name", `{"flaq":1}`, []string{"$.flaq: unknown field, ignored; did you mean flag?"}},
		{"unknown field in another case", `{"TEXTS":1}`, []string{"$.TEXTS: unknown field, ignored; did you mean texts?"}},
		{"unknown field below", `{"structs":[{"nam":"x"}]}`, []string{"$.structs[0].nam: unknown field, ignored; did you mean name?"}},
		{"unknown field with an odd name", `{"a.b/c-d":{"e":1}}`, []string{`$["a.b/c-d"]: unknown field, ignored`}},
		{"what is no field", `{"Untagged":"x","-":"x","Hidden":"x"}`, []string{
			"$.Untagged: unknown field, ignored", "$[\"-\"]: unknown field, ignored", "$.Hidden: unknown field, ignored"}},
		{"any data", `{"data":{"a":1,"b":{"c":null}},"any":[true]}`, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if d := decode(t, c.doc); !slices.Equal(d.reports, c.want) {
				t.Errorf("got\n%q\nwant\n%q", d.reports, c.want)
			}
		})
	}
}

// TestDecodeKeepsTheRest: a bad value affects only itself, at any depth.
func TestDecodeKeepsTheRest(t *testing.T) {
	d := decode(t, `{
		"text": "a", "flag": "no", "int32": 3, "float": [],
		"texts": ["x", 1, null, "y"],
		"structs": [{"name": "p", "size": {}}, 5, {"name": [], "size": 2, "else": 1}],
		"map": {"k": "v", "bad": 1, "none": null},
		"items": {"q": {"name": "q", "size": 1e3}, "bad": []},
		"pstruct": {"name": false, "size": 4},
		"uppers": {"A": "A", "b": "b"}
	}`)
	want := sample{
		Text: "a", Int32: 3,
		Texts:   []string{"x", "y"},
		Structs: []item{{Name: "p"}, {Size: 2}},
		Map:     map[string]string{"k": "v"},
		Items:   map[string]item{"q": {"q", 1000}},
		PStruct: &item{Size: 4},
		Uppers:  map[string]upper{"A": {"A"}},
	}
	if !reflect.DeepEqual(d.sample, want) {
		t.Errorf("got  %+v\nwant %+v", d.sample, want)
	}
	wantPaths := []string{
		"$.flag", "$.float", "$.texts[1]", "$.texts[2]", "$.structs[0].size", "$.structs[1]", "$.structs[2].name",
		"$.structs[2].else", "$.map.bad", "$.map.none", "$.items.bad", "$.pstruct.name", "$.uppers.b",
	}
	var paths []string
	for _, report := range d.reports {
		path, _, _ := strings.Cut(report, ": ")
		paths = append(paths, path)
	}
	if !slices.Equal(paths, wantPaths) {
		t.Errorf("got reports of\n%q\nwant\n%q", paths, wantPaths)
	}
}

// TestDecodeWithoutEnumerations: Options.Enum and Options.Report may be nil.
func TestDecodeWithoutEnumerations(t *testing.T) {
	n, err := document.Parse([]byte(`{"name":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	var got item
	document.Decode(n, &got, document.Options{Names: document.JSONNames})
	if got.Name != "x" {
		t.Errorf("got %+v", got)
	}
}
