package document_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
)

// sealed is a struct whose fields only its package can read.
type sealed struct{ text string }

func (s *sealed) UnmarshalText(text []byte) error { s.text = string(text); return nil }

// sealedText shows a sealed value.
func sealedText(v reflect.Value) (string, bool) {
	s, ok := v.Interface().(sealed)
	return s.text, ok
}

type machine struct {
	Name    string            `json:"name,omitempty"`
	Pods    *int32            `json:"pods,omitempty"`
	Part    float64           `json:"part,omitempty"`
	Secret  sealed            `json:"secret,omitempty"`
	Inner   part              `json:"inner,omitempty"`
	Below   *part             `json:"below,omitempty"`
	Zones   []string          `json:"zones,omitempty"`
	Tags    map[string]string `json:"tags,omitempty"`
	Content []byte            `json:"-"`
	Config  map[string]any    `json:"config,omitempty"`
	Each    map[string]part   `json:"each,omitempty"`
	Secrets map[string]sealed `json:"secrets,omitempty"`
}

type part struct {
	On   *bool `json:"on,omitempty"`
	List []any `json:"list,omitempty"`
}

// whole is a machine with a value in every field that a document has.
func whole() *machine {
	return &machine{
		Name: "a", Pods: new(int32(0)), Part: 0.075, Secret: sealed{"s"}, Inner: part{On: new(false)}, Below: new(part), Zones: []string{},
		Tags:   map[string]string{"a.b": "", "c": "d"},
		Config: map[string]any{"number": json.Number("1.50"), "map": map[string]any{"text": "x"}},
		Each:   map[string]part{"docker.io": {}}, Secrets: map[string]sealed{"k": {"v"}},
	}
}

// TestTreeOfReadsBack: Decode makes the same value from the tree.
func TestTreeOfReadsBack(t *testing.T) {
	var got machine
	document.Decode(document.TreeOf(whole(), sealedText), &got, document.Options{Names: document.JSONNames, Report: func(f document.Fault) { t.Error(f) }})
	if want := whole(); !reflect.DeepEqual(&got, want) {
		t.Errorf("%+v\n%+v", got, want)
	}
}

// TestTreeOfLeavesOutWhatSaysNothing: a nil, a zero field and null in data are omitted.
func TestTreeOfLeavesOutWhatSaysNothing(t *testing.T) {
	for want, m := range map[string]machine{
		"{}":                        {Config: map[string]any{}, Tags: map[string]string{}},
		`{"pods":0}`:                {Pods: new(int32(0))},
		`{"below":{}}`:              {Below: new(part)},
		`{"config":{"a":{"c":""}}}`: {Config: map[string]any{"a": map[string]any{"b": nil, "c": ""}, "d": nil}},
		`{"each":{"a":{},"b":{}}}`:  {Each: map[string]part{"b": {}, "a": {}}},
		`{"zones":[]}`:              {Zones: []string{}},
		`{"inner":{"list":[1,2,0.5,3,"x",{"a":[4]}]}}`: {Inner: part{List: []any{1, uint8(2), float32(0.5), json.Number("3"), "x", map[string][]int64{"a": {4}}}}},
	} {
		if got := string(document.TreeOf(m, sealedText).AppendJSON(nil)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestWalkAndAt: At finds each value that Walk visits at its path, and no others.
func TestWalkAndAt(t *testing.T) {
	tree := document.TreeOf(whole(), sealedText)
	var visited []string
	tree.Walk("$", func(path []byte, n *document.Node) {
		visited = append(visited, string(path)+"="+string(n.AppendJSON(nil)))
		if at := tree.At(string(path)); !reflect.DeepEqual(at, n) {
			t.Errorf("%s is %v", path, at)
		}
	})
	want := `$.name="a" $.pods=0 $.part=0.075 $.secret="s" $.inner.on=false $.zones=[] $.tags["a.b"]="" $.tags.c="d" $.config.map.text="x" $.config.number=1.50 $.secrets.k="v"`
	if got := strings.Join(visited, " "); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	parsed := parseAll(t, `{"a":{"b":[{"c":1}]}}`)
	for path, want := range map[string]string{
		"$": `{"a":{"b":[{"c":1}]}}`, "$.a.b[0].c": "1", "$.a.b": `[{"c":1}]`, "$.a.b[1]": "", "$.a.b[-1]": "", "$.a.c": "", "$.a.b.c": "", "": "", "a": "", "$a": "", "$[": "",
	} {
		got := ""
		if n := parsed[0].At(path); n != nil {
			got = string(n.AppendJSON(nil))
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// TestOverlay: values that are set replace earlier ones, entry by entry of a map, and nothing is shared.
func TestOverlay(t *testing.T) {
	into := &machine{Name: "b", Zones: []string{"1"}, Tags: map[string]string{"c": "e", "f": "g"}, Content: []byte("y"), Config: map[string]any{"map": map[string]any{"more": "z"}}}
	from := whole()
	from.Content = []byte("x")
	document.Overlay(into, from)
	want := whole()
	want.Content, want.Tags["f"], want.Config["map"] = []byte("x"), "g", map[string]any{"text": "x", "more": "z"}
	if !reflect.DeepEqual(into, want) {
		t.Errorf("%+v\n%+v", into, want)
	}
	*into.Pods, into.Tags["c"], into.Content[0], into.Config["map"].(map[string]any)["text"] = 9, "other", 'z', "other"
	if got := fmt.Sprintf("%d %s %s %v", *from.Pods, from.Tags["c"], from.Content, from.Config["map"]); got != "0 d x map[text:x]" {
		t.Errorf("something is shared: %s", got)
	}
	document.Overlay(into, new(machine)) // it has no set value
	if into.Name != "a" || into.Zones == nil {
		t.Errorf("%+v", into)
	}
}
