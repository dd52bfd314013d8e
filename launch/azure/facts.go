package azure

import (
	"iter"
	"reflect"
	"strings"
)

// Facts are the places of all facts, by their names, in the order of the document. Those that are nil are not known.
func (d *Detected) Facts() iter.Seq2[string, **Fact] {
	return func(yield func(string, **Fact) bool) {
		v := reflect.ValueOf(d).Elem()
		for i := range v.NumField() {
			at, ok := v.Field(i).Addr().Interface().(**Fact)
			if !ok {
				continue
			}
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if !yield(name, at) {
				return
			}
		}
	}
}
