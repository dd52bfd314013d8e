// Package registration compares a Node with the labels and taints that its node has wanted. A kubelet gives them to a Node only when it
// registers (k8s.io/kubernetes v1.36.3 pkg/kubelet/kubelet_node_status.go, tryRegisterWithAPIServer): a change of them does not reach a
// Node that exists.
//
// Only what generations of the node have changed is compared, and only if the Node still has what an earlier generation wanted.
// What an administrator or a controller has set since stays.
//
// It is pure. internal/transition asks the cluster and calls it.
package registration

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Node is what a cluster has of a Node. Taints are values by "KEY:EFFECT".
type Node struct {
	Name   string
	Labels map[string]string
	Taints map[string]string
}

// Wanted are the labels and taints that a generation's Node registers with.
type Wanted struct{ Labels, Taints map[string]string }

// Of returns the labels and taints of a generation's node.
func Of(n *resource.Node) Wanted {
	return Wanted{labels(n.Arguments["node-labels"].Value), taints(cmp.Or(n.Arguments["register-with-taints"].Value, n.Kubelet["registerWithTaints"]))}
}

// labels reads a list "KEY=VALUE,...". A value that only the machine knows is in none of the node's values, and is left out.
func labels(list string) map[string]string {
	all := make(map[string]string)
	for item := range strings.SplitSeq(list, ",") {
		if key, value, ok := strings.Cut(strings.TrimSpace(item), "="); ok && key != "" && !strings.Contains(value, "$") {
			all[key] = value
		}
	}
	return all
}

// taints reads a list "KEY=VALUE:EFFECT,...", in which "=VALUE" may be missing.
func taints(list string) map[string]string {
	all := make(map[string]string)
	for item := range strings.SplitSeq(list, ",") {
		taint, effect, ok := strings.Cut(strings.TrimSpace(item), ":")
		if key, value, _ := strings.Cut(taint, "="); ok && key != "" {
			all[key+":"+effect] = value
		}
	}
	return all
}

// Change is a label or taint of a Node that differs from the wanted one.
type Change struct {
	// Node is the Node's name.
	Node string
	// Label is the label's key, or Taint is "KEY:EFFECT"; the other one is empty.
	Label, Taint string
	// Value is the wanted value. If nil, the label or taint is removed.
	Value *string
	// Had reports whether the Node has it, with another value.
	Had bool
	// Command is what an administrator runs. Empty means that the kubelet may make the change.
	Command string
}

// Digest identifies the labels and taints that a node registers with: it is equal for equal ones.
func (w Wanted) Digest() string {
	sum := sha256.New()
	for _, values := range []map[string]string{w.Labels, w.Taints} {
		for _, key := range slices.Sorted(maps.Keys(values)) {
			fmt.Fprintf(sum, "%q=%q\n", key, values[key])
		}
		sum.Write([]byte("\n"))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// Pending returns the labels and taints of the last generation that the Node does not have yet, sorted.
func Pending(history []Wanted, node *Node) []Change {
	if len(history) == 0 {
		return nil
	}
	var changes []Change
	differing(history, func(w Wanted) map[string]string { return w.Labels }, node.Labels, func(key string, value *string) {
		_, had := node.Labels[key]
		c := Change{Node: node.Name, Label: key, Value: value, Had: had}
		switch {
		case value == nil && nodeconfig.KubeletSets(key): // the kubelet and the cloud go on to set it
			return
		case !nodeconfig.KubeletMaySet(key):
			c.Command = LabelCommand(c)
		}
		changes = append(changes, c)
	})
	differing(history, func(w Wanted) map[string]string { return w.Taints }, node.Taints, func(taint string, value *string) {
		_, had := node.Taints[taint]
		changes = append(changes, Change{Node: node.Name, Taint: taint, Value: value, Had: had, Command: taintCommand(node.Name, taint, value)})
	})
	return changes
}

// differing calls visit for each key, in order, of which the last generation wants something else than an earlier one, and the Node has
// what an earlier one wanted.
func differing(history []Wanted, of func(Wanted) map[string]string, actual map[string]string, visit func(key string, value *string)) {
	keys := make(map[string]bool)
	for _, w := range history {
		for key := range of(w) {
			keys[key] = true
		}
	}
	wanted := of(history[len(history)-1])
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if same(wanted, actual, key) || !slices.ContainsFunc(history, func(w Wanted) bool { return same(of(w), actual, key) }) {
			continue
		}
		value, ok := wanted[key]
		if ok {
			visit(key, &value)
		} else {
			visit(key, nil)
		}
	}
}

// same reports whether two maps have the same at a key, or both nothing.
func same(a, b map[string]string, key string) bool {
	x, inA := a[key]
	y, inB := b[key]
	return inA == inB && x == y
}

// LabelCommand is what an administrator runs for a change of a label.
func LabelCommand(c Change) string {
	if c.Value == nil {
		return "kubectl label node " + c.Node + " " + c.Label + "-"
	}
	return "kubectl label --overwrite node " + c.Node + " " + c.Label + "=" + *c.Value
}

func taintCommand(node, taint string, value *string) string {
	if value == nil {
		return "kubectl taint node " + node + " " + taint + "-"
	}
	key, effect, _ := strings.Cut(taint, ":")
	if *value != "" {
		key += "=" + *value
	}
	return "kubectl taint --overwrite node " + node + " " + key + ":" + effect
}
