// Package aksnodeconfig has AKS's node contract, aksnodeconfig.v1, as plain Go structs. The node decodes a document into them.
//
// The structs are generated from the same .proto files as package api/aksnodeconfig/v1, which is for programs that write such
// documents. They need no protobuf, so the agent does not link it. They have the same shape, except for the kubelet's
// configuration, in which every field is nil if the document does not have it. The package has only data and decides nothing.
// Package nodeconfig/aks calls it.
package aksnodeconfig

import (
	"reflect"
	"strconv"
	"strings"
)

// FieldNames returns the names of a field in a document: the one in the .proto file, and the JSON name if it differs.
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
	// Names returns the names of its values, by their numbers.
	Names() []string
}

// EnumValue returns the value of an enumeration that a document gives by name or number. ok is false if the type is not an
// enumeration. known is false if it has no such value.
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
