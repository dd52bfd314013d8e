package document_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
)

// twoNames is a struct whose fields have two names each.
type twoNames struct {
	FirstName string    `names:"first_name firstName"`
	SubField  *twoNames `names:"sub_field subField"`
}

func bothNames(f reflect.StructField) []string { return strings.Fields(f.Tag.Get("names")) }

// TestDecodeSpellings: a document may have a field under any of its names, but once. Paths always
// have the first name, so that they can be compared.
func TestDecodeSpellings(t *testing.T) {
	leaf := func(first, second string) *twoNames {
		return &twoNames{first, &twoNames{FirstName: second}}
	}
	for _, c := range []struct {
		name, doc string
		want      *twoNames
		reports   []string
	}{
		{
			"first names", `{"first_name":"a","sub_field":{"first_name":"b"}}`, leaf("a", "b"), nil,
		},
		{
			"second names", `{"firstName":"a","subField":{"firstName":"b"}}`, leaf("a", "b"), nil,
		},
		{
			"one field by both", `{"firstName":"a","first_name":"b"}`, &twoNames{FirstName: "a"},
			[]string{`$.first_name: is the same field as "firstName": remove one of them`},
		},
		{
			"one field by both, below", `{"subField":{"first_name":"a","firstName":"b"}}`, &twoNames{SubField: &twoNames{FirstName: "a"}},
			[]string{`$.sub_field.firstName: is the same field as "first_name": remove one of them`},
		},
		{
			"wrong type", `{"firstName":[],"subField":{"firstName":{}}}`, &twoNames{SubField: &twoNames{}},
			[]string{"$.first_name: is a list, want a string", "$.sub_field.first_name: is a map, want a string"},
		},
		{
			"near names", `{"first__name":"a","subfeild":{}}`, &twoNames{},
			[]string{`$.first__name: unknown field, ignored; did you mean first_name?`, "$.subfeild: unknown field, ignored; did you mean subField?"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := document.Parse([]byte(c.doc))
			if err != nil {
				t.Fatal(err)
			}
			var got twoNames
			var reports []string
			document.Decode(n, &got, document.Options{
				Names:  bothNames,
				Report: func(f document.Fault) { reports = append(reports, f.Path+": "+f.Reason) },
			})
			if !reflect.DeepEqual(&got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if !slices.Equal(reports, c.reports) {
				t.Errorf("got reports\n%q\nwant\n%q", reports, c.reports)
			}
		})
	}
}
