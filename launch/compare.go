package launch

import (
	"bytes"

	"github.com/slipway-dev/slipway/node"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Comparison is how a running node differs from the wanted one, where the records of both are known.
type Comparison struct {
	// Class is the greatest of the changes.
	Class Drift `json:"class"`
	// Changes are all differences, those that take most first.
	Changes []Change `json:"changes"`
	// Node is what the agent's apply takes on the running node: restart, drain, reboot, with the parts of the node that change;
	// nil where it does not differ. Where it takes another machine, Class is [Replace].
	Node *node.Difference `json:"node,omitempty"`
}

// forPlan writes a contract that nobody else has, of which a plan is all that is made.
func forPlan(c *nodeconfig.NodeConfig) []byte {
	c.APIVersion, c.Kind = nodeconfig.APIVersion, nodeconfig.Kind
	hideOwnTexts(c)
	return nodeconfig.Encode(c)
}

// CompareRecords compares what is kept of both, with what the change takes on the node, by the planner's own rules. A record has no
// secrets, so a secret that differs is not a change. If one of the records has no contract, Node is nil.
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

// planned is how the plans of two contracts differ, on a machine of which nothing is known.
func planned(running, wanted []byte) (*node.Difference, error) {
	var plans [2]*node.Plan
	for i, contract := range [][]byte{running, wanted} {
		plans[i], _ = node.Read(node.Document{Data: contract}).Plan(node.Facts{})
	}
	return node.Diff(plans[0], plans[1])
}
