package explain

import (
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// fieldsFile is for "make site", whose pages have more of each field than a row of docs/fields.md.
var fieldsFile = flag.String("fields", "", "TestFieldsDocument also writes all fields to this `file`, as JSON")

// fieldSet are the fields of a dialect.
type fieldSet struct {
	Dialect string        `json:"dialect"`
	Title   string        `json:"title"`
	Fields  []fieldOfPage `json:"fields"`
}

// fieldOfPage is a field as a page shows it.
type fieldOfPage struct {
	Path        string          `json:"path"`
	Takes       string          `json:"takes"`
	Description string          `json:"description"`
	Secret      bool            `json:"secret,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
	State       string          `json:"state"`
	// Where is what docs/fields.md says. If there are effects, they say it completely.
	Where   string  `json:"where"`
	Effects effects `json:"effects"`
}

func fieldSetOf(name string, rows []fieldRow) fieldSet {
	set := fieldSet{Dialect: name, Title: dialect.Named(name).Title}
	for _, row := range rows {
		x := row.of
		set.Fields = append(set.Fields, fieldOfPage{
			Path: row.path[len("$."):], Takes: x.Takes, Description: x.Description, Secret: x.Secret, Default: x.Default,
			State: row.state, Where: row.where, Effects: effectsOf(x),
		})
	}
	return set
}

func writeFields(t *testing.T, sets []fieldSet) {
	t.Helper()
	if *fieldsFile == "" {
		return
	}
	data, err := json.MarshalIndent(sets, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*fieldsFile, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
