// Package aks reads AKS's node contract, aksnodeconfig.v1, and translates it to a NodeConfig.
//
// Reading is tolerant, because producer and node image are released apart: an unknown field or
// enumeration value is a warning, a value of the wrong type spoils its own field only, both
// spellings of a name and numbers as strings are taken, and what this version does not translate
// is named. Nothing is dropped in silence. The package does no I/O, never changes its input, and
// leaves defaults and validation of the result to nodeconfig. nodeconfig/dialect calls it.
package aks

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/aksnodeconfig"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

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

// FromTree reads a contract and translates it.
func FromTree(tree *document.Node) *Result {
	var config aksnodeconfig.Configuration
	var problems []nodeconfig.Problem
	document.Decode(tree, &config, document.Options{
		Names: aksnodeconfig.FieldNames,
		Enum:  aksnodeconfig.EnumValue,
		Report: func(f document.Fault) {
			problems = append(problems, nodeconfig.ProblemOf(f, vital(f.Path)))
		},
	})
	r := translate(&config)
	r.Problems = append(problems, r.Problems...)
	return r
}

// deref is what a pointer points to, or the zero value where the document has none.
func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// versions are the contract's versions; the first is current.
var versions = []string{"v1", "v0"}

func (t *translation) version() {
	const at = "$.version"
	switch version := t.in.Version; {
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
	in  *aksnodeconfig.Configuration
	out *nodeconfig.NodeConfig
	*Result
}

func (t *translation) warn(kind nodeconfig.ProblemKind, path, format string, args ...any) {
	t.Problems = append(t.Problems, nodeconfig.Problem{Kind: kind, Path: path, Reason: fmt.Sprintf(format, args...)})
}

func (t *translation) fatal(kind nodeconfig.ProblemKind, path, format string, args ...any) {
	t.Problems = append(t.Problems, nodeconfig.Problem{Kind: kind, Path: path, Reason: fmt.Sprintf(format, args...), Fatal: true})
}

func translate(config *aksnodeconfig.Configuration) *Result {
	t := &translation{
		in:     config,
		out:    new(nodeconfig.NodeConfig),
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
	t.untranslated(reflect.ValueOf(config).Elem(), "$", "")
	return t.Result
}
