package resource

import "slices"

// Node has the planner's decisions before they are written into files. These values decide the class of a change, not
// the text of a file. It holds no secret.
type Node struct {
	// Version is the Kubernetes version in the contract, and Minor its minor version. Both are empty if the contract
	// takes the installed one.
	Version string `json:"version,omitempty"`
	Minor   int    `json:"minor,omitempty"`
	// Arguments are the kubelet's arguments, by their names without dashes.
	Arguments map[string]Argument `json:"arguments,omitempty"`
	// Kubelet are the fields of the kubelet's configuration, with dots between names, with the values that equivalent
	// flags would have. In is their file.
	Kubelet map[string]string `json:"kubelet,omitempty"`
	In      ID                `json:"in,omitempty"`
	// Over are the fields in another file, which the kubelet merges over the first. It may be nil.
	Over *Fields `json:"over,omitempty"`
	// Runtime are settings of the container runtime, by their names in plan's table. A setting from a secret text of
	// the contract is a fingerprint here.
	Runtime map[string]string `json:"runtime,omitempty"`
	// Additions are the paths at which other programs may add files, sorted. A path that ends in a slash is a directory.
	Additions []string `json:"additions,omitempty"`
}

// Fields are some fields of a configuration, by their names in Node.Kubelet, sorted, with their file.
type Fields struct {
	Names []string `json:"names"`
	In    ID       `json:"in"`
}

// FileOf is the file of a field of the kubelet's configuration.
func (n *Node) FileOf(field string) ID {
	if n.Over != nil {
		if _, over := slices.BinarySearch(n.Over.Names, field); over {
			return n.Over.In
		}
	}
	return n.In
}

// Argument is a flag's value, and its file. A flag that is given more than once has its values joined by commas, as the
// kubelet joins lists.
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
