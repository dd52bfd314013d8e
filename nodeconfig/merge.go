package nodeconfig

import "github.com/slipway-dev/slipway/internal/document"

// Merge merges several configs, such as one for all nodes, one for a pool and one for a node. A later config wins over an earlier
// one: a map gets the entries of both, by key; any other value of a later config, including a list, replaces the earlier value.
// Merge does not change the configs, and the result shares nothing with them; the result for one config is a copy. Values in the
// kubelet's configuration and in other free data that may be credentials are [Secret]s in the result. Call Merge before [Default],
// which sets the fields that are still unset.
//
// A config in Go cannot distinguish a false, a 0 or an "" that its author set from an unset field: in a field that is not a
// pointer, these keep the earlier value. A nil list, map or pointer keeps it, too. A list that is empty and not nil removes the
// earlier items. Documents do have the distinction, and Read of package node merges them as they are written.
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
