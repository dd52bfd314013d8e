package schema_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/slipway-dev/slipway/internal/anatomy"
	"github.com/slipway-dev/slipway/schema"
)

// A timeline, also an empty one, is as its schema says.
func TestTimelineFollowsItsSchema(t *testing.T) {
	s := compiled(t, schema.Timeline)
	var documents []anatomy.Document
	files := os.DirFS("../examples/anatomy/aks")
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		documents = append(documents, anatomy.Document{Name: name, Data: data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range [][]anatomy.Document{documents, nil} {
		data, err := json.Marshal(anatomy.Read(input, anatomy.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(value); err != nil {
			t.Error(err)
		}
	}
}
