package resource

import "slices"

// Node is what was decided of a node before it was written into files. How a change is judged is decided by these values, and not by
// the text of a file. It holds no secret.
type Node struct {
	// Version is Kubernetes', as the contract names it, and Minor its minor version; empty for a contract that takes what is installed.
	Version string `json:"version,omitempty"`
	Minor   int    `json:"minor,omitempty"`
	// Arguments are the kubelet's, by their names without dashes.
	Arguments map[string]Argument `json:"arguments,omitempty"`
	// Kubelet are the fields of the kubelet's configuration, with dots between names, as flags of the same settings would have them.
	// In is the file that they are in.
	Kubelet map[string]string `json:"kubelet,omitempty"`
	In      ID                `json:"in,omitempty"`
	// Over are those of them that are in another file, which the kubelet merges over the first; nil for none.
	Over *Fields `json:"over,omitempty"`
	// Runtime are settings of the container runtime, by their names in plan's table of them. What a secret text of the contract
	// has set is here as a fingerprint.
	Runtime map[string]string `json:"runtime,omitempty"`
}

// Fields are some fields of a configuration, by their names in Node.Kubelet, sorted, and the file that they are in.
type Fields struct {
	Names []string `json:"names"`
	In    ID       `json:"in"`
}

// FileOf is the file that a field of the kubelet's configuration is in.
func (n *Node) FileOf(field string) ID {
	if n.Over != nil {
		if _, over := slices.BinarySearch(n.Over.Names, field); over {
			return n.Over.In
		}
	}
	return n.In
}

// Argument is a flag's value, and the file that it is in. A flag that is given more than once has its values with commas
// between, as the kubelet joins lists.
type Argument struct {
	Value string `json:"value"`
	In    ID     `json:"in,omitempty"`
}

// Argue adds an argument.
func (n *Node) Argue(name, value string, in ID) {
	if earlier, twice := n.Arguments[name]; twice {
		value = earlier.Value + "," + value
	}
	if n.Arguments == nil {
		n.Arguments = make(map[string]Argument)
	}
	n.Arguments[name] = Argument{value, in}
}
