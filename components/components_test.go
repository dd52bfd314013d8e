package components_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
)

const head = `"apiVersion":"slipway.dev/v1","kind":"ComponentManifest"`

func TestParse(t *testing.T) {
	kubelet := components.Component{Name: "kubelet", Version: "1.36.3", Path: "/opt/bin/kubelet", SHA256: "ab"}
	for _, c := range []struct {
		name, document string
		want           []components.Component
		err            string
	}{
		{name: "none", document: `{` + head + `}`},
		{name: "null", document: `{` + head + `,"components":null}`},
		{name: "one", document: `{` + head + `,"components":[{"name":"kubelet","version":"1.36.3","path":"/opt/bin/kubelet","sha256":"ab"}]}`,
			want: []components.Component{kubelet}},
		{name: "unknown fields", document: `{` + head + `,"built":1,"components":[{"name":"a","size":2}]}`, want: []components.Component{{Name: "a"}}},
		{name: "as large as may be", document: `{` + head + `}` + strings.Repeat(" ", components.MaxBytes-len(head)-2)},
		{name: "too large", document: `{` + head + `}` + strings.Repeat(" ", components.MaxBytes-len(head)-1), err: "larger than"},
		{name: "empty", err: "component manifest: "},
		{name: "truncated", document: `{` + head, err: "component manifest: "},
		{name: "a list", document: `[]`, err: "component manifest: "},
		{name: "wrong types", document: `{` + head + `,"components":{"kubelet":"1"}}`, err: "component manifest: "},
		{name: "another version", document: `{"apiVersion":"slipway.dev/v2","kind":"ComponentManifest"}`, err: `not "slipway.dev/v1"`},
		{name: "another kind", document: `{"apiVersion":"slipway.dev/v1","kind":"Plan"}`, err: `not "slipway.dev/v1" "ComponentManifest"`},
		{name: "no kind", document: `{}`, err: `not "slipway.dev/v1"`},
	} {
		got, err := components.Parse([]byte(c.document))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || !reflect.DeepEqual(got, components.Manifest{}) {
				t.Errorf("%s: %+v, %v", c.name, got, err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got.Components, c.want) || got.Kind != components.Kind || got.APIVersion != components.APIVersion {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

// FuzzParse: a parsed manifest is written and parsed again with the same result.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{` + head + `,"components":[{"name":"kubelet","version":"1.36.3","path":"/opt/bin/kubelet","sha256":"ab"}]}`))
	f.Add([]byte(`{` + head + `,"components":[]}`))
	f.Add([]byte(`{"Kind":"ComponentManifest"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := components.Parse(data)
		if err != nil {
			return
		}
		written, err := json.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		second, err := components.Parse(written)
		if err == nil && !reflect.DeepEqual(first, second) || err != nil && len(written) <= components.MaxBytes {
			t.Fatalf("%v\n%s", err, written)
		}
	})
}
