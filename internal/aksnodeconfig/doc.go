// Package aksnodeconfig holds AKS's node contract, aksnodeconfig.v1, as plain Go structs: what the node reads a document
// into.
//
// The structs are generated from the same .proto files as package api/aksnodeconfig/v1, which is for programs that write
// such documents. These here need no protobuf, so the agent does not link it. They have the same shape, but for the
// kubelet's configuration, of which every field is nil where the document does not have it. The package holds data and
// decides nothing. Package nodeconfig/aks calls it.
package aksnodeconfig

import (
	"reflect"
	"strconv"
	"strings"
)

// FieldNames returns the names of a field in a document: the one in the .proto file, and the JSON name if that is
// another.
func FieldNames(f reflect.StructField) []string {
	name, json := Names(f)
	if json == name {
		return []string{name}
	}
	return []string{name, json}
}

// Names returns the name of a field in the .proto file, and its JSON name.
func Names(f reflect.StructField) (name, json string) {
	_, names, _ := strings.Cut(f.Tag.Get("aks"), ",")
	name, json, differ := strings.Cut(names, ",")
	if !differ {
		json = name
	}
	return name, json
}

// enum is an enumeration of the contract.
type enum interface {
	// Names are the names of its values, by their numbers.
	Names() []string
}

// EnumValue returns the value of an enumeration that a document names, by its name or by its number. ok is false where
// the type is no enumeration, known where it has no such value.
func EnumValue(t reflect.Type, name string) (value int64, known, ok bool) {
	e, ok := reflect.Zero(t).Interface().(enum)
	if !ok {
		return 0, false, false
	}
	for i, n := range e.Names() {
		if n == name || strconv.Itoa(i) == name {
			return int64(i), true, true
		}
	}
	return 0, false, true
}
