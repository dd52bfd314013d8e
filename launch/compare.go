package launch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/node"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Comparison holds the differences between a running node and the wanted one.
type Comparison struct {
	// Class is the greatest class of the changes; [Ignore] if Changes is empty.
	Class Drift `json:"class"`
	// Changes are all differences, the greatest class first.
	Changes []Change `json:"changes"`
	// Node holds what the agent's apply needs on the running node (restart, drain or reboot) and the parts of the node that change.
	// It is nil if the node's contract does not differ.
	Node *node.Difference `json:"node,omitempty"`
}

// Change is one difference.
type Change struct {
	Path string `json:"path"`
	// Old and New are the values as people see them. Empty means that the node does not have the value.
	Old    string `json:"old"`
	New    string `json:"new"`
	Class  Drift  `json:"class"`
	Reason string `json:"reason"`
}

// Compare compares a running node with the wanted one. It reports changes of the sources: a wanted value counts if the running node does
// not have it, and this release would not set it either from the sources' former values. So a table of a newer release changes no
// node, unless the owner names that part of the node in driftOnRelease. The error wraps [ErrUnknown], or is the [Problems] of a refused
// launch.
func Compare(running *Record, wanted *Launch) (*Comparison, error) {
	switch {
	case running == nil:
		return nil, fmt.Errorf("%w: there is no record", ErrUnknown)
	case wanted == nil:
		return nil, errNoLaunch
	}
	if err := wanted.problems.Err(); err != nil {
		return nil, err
	}
	if running.Key == wanted.Key() {
		return &Comparison{Class: Ignore}, nil
	}
	given, has, err := running.documents()
	if err != nil {
		return nil, err
	}
	if a, b := has.Node.Cluster.Name, wanted.document.Node.Cluster.Name; a != "" && b != "" && a != b {
		return nil, fmt.Errorf("%w: the record is of a node of another cluster", ErrUnknown)
	}
	want := wanted.document.hidden()
	c := &comparison{
		wants: compared(want.complete()), has: compared(has.complete()),
		again: compared(wanted.base.again(given, has, wanted).complete()),
	}
	c.inDigests(running.Digests, wanted)
	c.values(want)
	result := &Comparison{Changes: c.changes}
	return result, result.judge(has, want)
}

// comparison holds the values of three nodes: has of the running one, wants of the wanted one, and again of the one that this release
// makes from what the sources gave when the running one was launched.
type comparison struct {
	has, wants, again map[string]comparedValue
	changes           []Change
}

// complete gives a node its defaults.
func (d *Document) complete() *Document {
	nodeconfig.Default(&d.Node)
	return d
}

// again returns what this release makes of what the sources gave when the running node was launched.
func (b *base) again(given, has *Document, wanted *Launch) *Document {
	if b.standard == nil || given.Machine.Type.Name != wanted.document.Machine.Type.Name {
		return has // of another size, it is replaced
	}
	d := overlay(b.standard(), given)
	d.Machine.Type = wanted.document.Machine.Type
	b.run(d)
	if d = d.hidden(); d.Machine.Image.Definition == has.Machine.Image.Definition {
		// The image list is not part of the release. So for the same image definition, the node's own version counts.
		d.Machine.Image.ID, d.Machine.Image.Version = has.Machine.Image.ID, has.Machine.Image.Version
	}
	return d
}

// values finds the values that differ.
func (c *comparison) values(want *Document) {
	names := maps.Clone(c.has)
	maps.Copy(names, c.wants)
	for path := range names {
		old, had := c.has[path]
		value, wanted := c.wants[path]
		if had == wanted && old.same == value.same {
			continue
		}
		again, would := c.again[path]
		if would == wanted && again.same == value.same && !isOptedIn(want, path) {
			continue // only the release differs
		}
		row := fieldAt([]byte(path))
		if row.class == Ignore {
			continue
		}
		change := Change{cmp.Or(value.path, old.path), cmp.Or(old.shown, row.standard), cmp.Or(value.shown, row.standard), row.class, row.reason}
		if change.Old == nodeconfig.Redacted || change.New == nodeconfig.Redacted {
			change.Old, change.New = "", secretChanged
		}
		c.changes = append(c.changes, change)
	}
}

// secretChanged stands for a changed secret. Neither its old nor its new value is shown.
const secretChanged = "changed"

// isOptedIn reports whether the owner wants nodes to follow what a release chooses at a path.
func isOptedIn(d *Document, path string) bool {
	for _, name := range d.Machine.DriftOnRelease {
		for _, c := range choices {
			if c.name == name && slices.ContainsFunc(c.paths, func(above string) bool { return document.Within(path, above) }) {
				return true
			}
		}
	}
	return false
}

// inDigests compares the parts that the record keeps only as digests, and leaves their values out of the other comparisons.
func (c *comparison) inDigests(digests map[string]string, wanted *Launch) {
	if len(digests) == 0 {
		return
	}
	given := wanted.given().hidden().kept()
	for _, at := range slices.Sorted(maps.Keys(digests)) {
		class, reason := Ignore, ""
		for path := range c.wants {
			if document.Within(path, at) {
				if row := fieldAt([]byte(path)); row.class.takes() > class.takes() {
					class, reason = row.class, row.reason
				}
			}
		}
		row := fieldAt([]byte(at))
		if class == Ignore {
			class, reason = row.class, row.reason
		}
		digest := ""
		if value := given.At(at); value != nil {
			digest = shortDigest(value.AppendJSON(nil))
		}
		if digest != digests[at] && class != Ignore {
			c.changes = append(c.changes, Change{Path: at, Class: class, Reason: reason})
		}
		for _, values := range []map[string]comparedValue{c.has, c.wants, c.again} {
			maps.DeleteFunc(values, func(path string, _ comparedValue) bool { return document.Within(path, at) })
		}
	}
}

// judge sets what the changes need: on the node, by the plans of both contracts, and the class of the whole comparison.
func (c *Comparison) judge(has, want *Document) error {
	ofNode := func(change Change) bool { return change.Class == InPlace && document.Within(change.Path, "$.node") }
	if slices.ContainsFunc(c.Changes, ofNode) {
		changed, err := planned(contractOf(has), contractOf(want))
		if err != nil {
			return err
		}
		if c.Node = changed; len(changed.Changes) == 0 { // it is written otherwise, and the same node
			c.Node, c.Changes = nil, slices.DeleteFunc(c.Changes, ofNode)
		} else if changed.Class == node.Replace {
			for i := range c.Changes {
				if change := &c.Changes[i]; ofNode(*change) {
					change.Class, change.Reason = Replace, "the node's own plan says that it takes another machine"
				}
			}
		}
	}
	sortChanges(c.Changes)
	c.Class = Ignore
	if len(c.Changes) > 0 {
		c.Class = c.Changes[0].Class
	}
	return nil
}

// contractOf returns the contract of a hidden document. It is only planned, never applied.
func contractOf(d *Document) []byte {
	c := d.Node
	c.APIVersion, c.Kind = nodeconfig.APIVersion, nodeconfig.Kind
	return nodeconfig.Encode(&c)
}

// planned compares the plans of two contracts on a machine without known facts.
func planned(running, wanted []byte) (*node.Difference, error) {
	var plans [2]*node.Plan
	for i, contract := range [][]byte{running, wanted} {
		plans[i], _ = node.Read(node.Document{Data: contract}).Plan(node.Facts{})
	}
	return node.Diff(plans[0], plans[1])
}

// sortChanges sorts the greatest class first, then by path.
func sortChanges(changes []Change) {
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(b.Class.takes()-a.Class.takes(), strings.Compare(a.Path, b.Path))
	})
}
