package facts

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseGiven(t *testing.T) {
	for document, want := range map[string]string{
		`{"os":{"id":"ubuntu"},"cpus":4}`: "",
		``:                                "not valid JSON",
		"os: {id: ubuntu}\n":              "not valid JSON",
		`{"cpus":4} {}`:                   "not valid JSON",
		`[]`:                              "a JSON array",
		`"facts"`:                         "a JSON string",
		`{}`:                              "it is empty",
		`null`:                            "it is empty",
		`{"foo":1}`:                       `unknown field "foo"`,
		`{"cpus":4,"os":{"name":"x"}}`:    `unknown field "name"`,
		`{"cpus":"four"}`:                 "cpus",
		`{"apiVersion":"slipway.dev/v1","kind":"NodeConfig"}`: `a document of kind "NodeConfig"`,
		`{"kind":"ComponentManifest","components":[]}`:        `a document of kind "ComponentManifest"`,
	} {
		got, err := ParseGiven([]byte(document))
		switch {
		case want == "" && (err != nil || got.CPUs != 4):
			t.Errorf("%s: %+v, %v", document, got, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), howToGet) || !reflect.DeepEqual(got, Facts{})):
			t.Errorf("%s: %+v, %v, want %q", document, got, err, want)
		}
	}
}
