package nodeconfig

import "github.com/slipway-dev/slipway/internal/document"

// Merge makes one config of several, such as one for all nodes, one for a pool and one for a node. A later one goes
// before an earlier one: a map gets the entries of both, by their keys, and everything else that a later config says
// stands for the whole of what an earlier one said, lists too. The configs are not changed, and share nothing with the
// result; that of one config is a copy of it. What may be a credential in the kubelet's configuration and other data that
// is passed on is a [Secret] in the result. Merge before [Default], which fills in what was not said.
//
// A config in Go does not know the difference between a false, a 0 or an "" that its author wrote and one that nobody
// wrote: in a field that is no pointer, these keep what an earlier config says. A nil list, map or pointer says nothing
// either; a list that is empty and not nil takes away the items of an earlier one. Documents do know the difference, and
// Read of package node merges them as they are written.
func Merge(configs ...*NodeConfig) *NodeConfig {
	merged := new(NodeConfig)
	for _, c := range configs {
		if c != nil {
			document.Overlay(merged, c)
		}
	}
	seal(merged)
	return merged
}
