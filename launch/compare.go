package launch

import (
	"bytes"
	"reflect"
	"strings"

	"github.com/slipway-dev/slipway/node"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Comparison is how a running node differs from the wanted one, where the templates of both are known.
type Comparison struct {
	// Class is the greatest of the changes.
	Class Drift `json:"class"`
	// Changes are all differences, those that take most first.
	Changes []Change `json:"changes"`
	// Node is what the agent's apply takes on the running node: restart, drain, reboot, with the parts of the node that change;
	// nil where it does not differ. Where it takes another machine, Class is [Replace].
	Node *node.Difference `json:"node,omitempty"`
}

// Compare compares the template that a node was made from with the one that is wanted. It sees more than [Diff] of two records:
// secrets that differ, and what the change takes on the node, by the planner's own rules.
func Compare(running, wanted *Template) (*Comparison, error) {
	c := &Comparison{Changes: differences(values(&running.Document), values(&wanted.Document))}
	for _, path := range otherSecrets(&running.Document, &wanted.Document) {
		d := driftOf(path)
		c.Changes = append(c.Changes, Change{Path: path, New: secretChanged, Class: d.class, Reason: d.reason})
	}
	return c.judged(running.comparable(), wanted.comparable())
}

// comparable is the node's contract for its plan, with its secrets but for the token.
func (t *Template) comparable() []byte {
	c := nodeconfig.Merge(&t.Document.Node)
	if t.NeedsToken() {
		c.Join.BootstrapToken = placeholders[0]
	}
	return forPlan(c)
}

// forPlan writes a contract that nobody else has, of which a plan is all that is made.
func forPlan(c *nodeconfig.NodeConfig) []byte {
	c.APIVersion, c.Kind = nodeconfig.APIVersion, nodeconfig.Kind
	hideOwnTexts(c)
	return nodeconfig.Encode(c)
}

// CompareRecords compares what is kept of both, as [Compare] does: that a secret differs is not known. Nor is what the change
// takes on the node, where one of the records has no contract.
func CompareRecords(running, wanted *Record) (*Comparison, error) {
	c := &Comparison{Changes: Diff(running, wanted)}
	return c.judged(running.Contract, wanted.Contract)
}

// judged is a comparison with what its changes take: on the node, by the plans of both contracts, and in all.
func (c *Comparison) judged(running, wanted []byte) (*Comparison, error) {
	if len(running) > 0 && len(wanted) > 0 && !bytes.Equal(running, wanted) {
		changed, err := planned(running, wanted)
		if err != nil {
			return nil, err
		}
		if len(changed.Changes) > 0 {
			c.Node = changed
		}
	}
	if c.Node != nil && c.Node.Class == node.Replace {
		for i := range c.Changes {
			if change := &c.Changes[i]; change.Class == InPlace {
				change.Class, change.Reason = Replace, "the node's own plan says that it takes another machine"
			}
		}
	}
	sortChanges(c.Changes)
	c.Class = Greatest(c.Changes)
	return c, nil
}

// otherSecrets are the paths of values that both documents have, that hold a secret, and that differ.
func otherSecrets(running, wanted *Document) []string {
	before := make(map[string]any)
	walk(running, func(path []byte, v reflect.Value) {
		if strings.Contains(text(v), nodeconfig.Redacted) {
			before[string(path)] = v.Interface()
		}
	})
	var paths []string
	walk(wanted, func(path []byte, v reflect.Value) {
		if old, had := before[string(path)]; had && text(v) == text(reflect.ValueOf(old)) && !reflect.DeepEqual(old, v.Interface()) {
			paths = append(paths, string(path))
		}
	})
	return paths
}

// planned is how the plans of two contracts differ, on a machine of which nothing is known.
func planned(running, wanted []byte) (*node.Difference, error) {
	var plans [2]*node.Plan
	for i, contract := range [][]byte{running, wanted} {
		plans[i], _ = node.Read(node.Document{Data: contract}).Plan(node.Facts{})
	}
	return node.Diff(plans[0], plans[1])
}
