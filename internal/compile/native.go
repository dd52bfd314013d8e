package compile

import (
	"bytes"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// NativeOf writes a config as a native document in YAML. It is as secret as the config.
func NativeOf(config *nodeconfig.NodeConfig) []byte {
	tree, err := document.Parse(nodeconfig.Encode(config))
	if err != nil {
		panic("a config of this program's own cannot be read: " + err.Error())
	}
	head := []string{"kind", "apiVersion"} // the last one goes first
	slices.SortStableFunc(tree.Fields, func(a, b document.Field) int {
		return slices.Index(head, b.Name) - slices.Index(head, a.Name)
	})
	return tree.AppendYAML(nil)
}

// WithoutPlace returns warnings for the fields whose values are missing in [NativeOf]. Reading the contract does not warn of them,
// because they change no node.
func (c *Contract) WithoutPlace() []nodeconfig.Problem {
	if !c.Readable() {
		return nil
	}
	tree, err := document.Parse(c.Canonical())
	if err != nil {
		panic("a document of this program's own cannot be read: " + err.Error())
	}
	var lost []nodeconfig.Problem
	all := nodeconfig.Encode(c.Written())
	for _, field := range dialect.Unplanned(c.Dialect) {
		rest, was := without(tree, strings.Split(strings.TrimPrefix(field.Path, "$."), "."))
		if !was || field.Path == "$.apiVersion" || field.Path == "$.kind" || field.Path == "$.version" {
			continue
		}
		if read := dialect.Decode(rest.AppendJSON(nil), c.Dialect); bytes.Equal(nodeconfig.Encode(read.Written()), all) {
			lost = append(lost, c.Place(nodeconfig.Problem{
				Kind: nodeconfig.NoEffect, Path: field.Path, Reason: "has no place in a native contract: " + field.Why,
			}))
		}
	}
	return lost
}

// without returns a map without the value at the end of the steps, and reports whether the value was there.
func without(n *document.Node, steps []string) (rest *document.Node, was bool) {
	copied := *n
	copied.Fields = slices.Clone(n.Fields)
	i := slices.IndexFunc(copied.Fields, func(f document.Field) bool { return f.Name == steps[0] })
	switch {
	case i < 0:
		return n, false
	case len(steps) == 1:
		copied.Fields = slices.Delete(copied.Fields, i, i+1)
		return &copied, true
	}
	inner, was := without(&copied.Fields[i].Value, steps[1:])
	copied.Fields[i].Value = *inner
	return &copied, was
}
