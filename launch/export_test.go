package launch

import (
	"fmt"
	"reflect"
	"slices"
)

// What the tests of the clouds' tables need.
var (
	Walk    = walk
	FieldOf = fieldOf
)

// Trespass lists what layers set that is not theirs to set, by a cloud's table. It is empty unless the cloud has a defect.
func Trespass(layers []Layer, fields []Field) []string {
	var found []string
	for i := range layers {
		walk(&layers[i].Document, func(path string, _ reflect.Value) {
			switch f := fieldOf(fields, path); {
			case f == nil:
				found = append(found, fmt.Sprintf("%s: no row says who may set it", path))
			case !slices.Contains(f.Sources, layers[i].Source):
				found = append(found, fmt.Sprintf("%s: is not to be set by %s", path, layers[i].Source))
			}
		})
	}
	return found
}
