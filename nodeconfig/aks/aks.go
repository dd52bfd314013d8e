// Package aks reads AKS's node contract, aksnodeconfig.v1, and translates it to a NodeConfig.
//
// Reading is tolerant, because producer and node image are released apart: an unknown field or
// enumeration value is a warning, a value of the wrong type spoils its own field only, both
// spellings of a name and numbers as strings are taken, and what this version does not translate
// is named. Nothing is dropped in silence. The package does no I/O, never changes its input, and
// leaves defaults and validation of the result to nodeconfig. nodeconfig/dialect calls it, and
// whoever builds an AKS contract in Go.
package aks

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/slipway-dev/slipway/api/aksnodeconfig/v1"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Config is the contract's top message.
type Config = aksnodeconfigv1.Configuration

// Result is a contract in NodeConfig's terms.
type Result struct {
	// NodeConfig is what the contract says, without defaults; never nil.
	NodeConfig *nodeconfig.NodeConfig
	// Problems are those of reading and translating, with paths in the contract's terms.
	Problems []nodeconfig.Problem

	origins map[string]string
}

// Origin returns the path in the contract that a path of the NodeConfig came from, or the path
// itself where there is none.
func (r *Result) Origin(path string) string {
	for prefix := path; ; {
		if from, ok := r.origins[prefix]; ok {
			return from + path[len(prefix):]
		}
		cut := strings.LastIndexAny(prefix, ".[")
		if cut <= 0 {
			return path
		}
		prefix = prefix[:cut]
	}
}

// Decode reads a contract as JSON (YAML is taken too) and translates it.
func Decode(data []byte) *Result {
	tree, err := document.Parse(data)
	if err != nil {
		return &Result{
			NodeConfig: new(nodeconfig.NodeConfig),
			Problems:   []nodeconfig.Problem{nodeconfig.Unreadable(err)},
		}
	}
	return FromTree(tree)
}

// FromTree is Decode for a document that is parsed already.
func FromTree(tree *document.Node) *Result {
	var config Config
	var problems []nodeconfig.Problem
	seen := make(map[string]bool)
	document.Decode(tree, &config, document.Options{
		Names: protoNames,
		Enum:  protoEnum,
		Report: func(f document.Fault) {
			problems = append(problems, nodeconfig.ProblemOf(f, vital(f.Path)))
		},
		Seen: func(path string) { seen[path] = true },
	})
	r := translate(&config, seen)
	r.Problems = append(problems, r.Problems...)
	return r
}

// FromMessage translates a contract that is built in Go. What protobuf cannot tell from unset (a
// false or an empty string without presence) is unset.
func FromMessage(config *Config) *Result {
	if config == nil {
		config = new(Config)
	}
	return translate(config, nil)
}

// protoNames returns a generated field's proto name and JSON name, from its protobuf tag.
func protoNames(f reflect.StructField) []string {
	var name, json string
	for part := range strings.SplitSeq(f.Tag.Get("protobuf"), ",") {
		if v, ok := strings.CutPrefix(part, "name="); ok {
			name = v
		}
		if v, ok := strings.CutPrefix(part, "json="); ok {
			json = v
		}
	}
	switch {
	case name == "":
		return nil
	case json == "":
		return []string{name}
	}
	return []string{name, json}
}

var enumType = reflect.TypeFor[protoreflect.Enum]()

// protoEnum resolves an enumeration's value by name or number.
func protoEnum(t reflect.Type, name string) (value int64, known, ok bool) {
	if !t.Implements(enumType) {
		return 0, false, false
	}
	values := reflect.Zero(t).Interface().(protoreflect.Enum).Descriptor().Values()
	for i := range values.Len() {
		v := values.Get(i)
		if string(v.Name()) == name || fmt.Sprint(v.Number()) == name {
			return int64(v.Number()), true, true
		}
	}
	return 0, false, true
}

// versions are the contract's versions; the first is current.
var versions = []string{"v1", "v0"}

func (t *translation) version() {
	const at = "$.version"
	switch version := t.in.GetVersion(); {
	case version == "":
		t.fatal(nodeconfig.Missing, at, `is missing; use "v1"`)
	case !slices.Contains(versions, version):
		t.fatal(nodeconfig.Invalid, at, `is a version that this agent does not know; use "v1"`)
	case version == "v0":
		t.warn(nodeconfig.Deprecated, at, "v0 is deprecated; it is read as v1")
	}
}

// translation is one run of translate.
type translation struct {
	in   *Config
	out  *nodeconfig.NodeConfig
	seen map[string]bool
	*Result
}

func (t *translation) warn(kind nodeconfig.ProblemKind, path, format string, args ...any) {
	t.Problems = append(t.Problems, nodeconfig.Problem{Kind: kind, Path: path, Reason: fmt.Sprintf(format, args...)})
}

func (t *translation) fatal(kind nodeconfig.ProblemKind, path, format string, args ...any) {
	t.Problems = append(t.Problems, nodeconfig.Problem{Kind: kind, Path: path, Reason: fmt.Sprintf(format, args...), Fatal: true})
}

func translate(config *Config, seen map[string]bool) *Result {
	t := &translation{
		in:     config,
		out:    new(nodeconfig.NodeConfig),
		seen:   seen,
		Result: &Result{origins: maps.Clone(fieldOrigins)},
	}
	t.NodeConfig = t.out
	t.out.APIVersion, t.out.Kind = nodeconfig.APIVersion, nodeconfig.Kind
	t.out.Components.Layout = nodeconfig.LayoutAKS
	t.version()
	t.cluster()
	t.join()
	t.kubelet()
	t.runtime()
	t.network()
	t.system()
	t.cloud()
	t.surroundings()
	t.untranslated(config.ProtoReflect(), "$", "")
	return t.Result
}
