package plan

// concern is one subject of a node: what is written, where, when and why. It knows no other concern, so their order
// does not matter.
type concern struct {
	name string
	// joins says that only a node that joins a cluster has it.
	joins bool
	// reads are the contract's settings that it applies; a path stands for all that is below it, and "*" for each key
	// of a map. A setting that no concern reads is not applied, and is warned of where it is set.
	reads []string
	// declines are settings that it does not apply and reports itself: a value may ask for what the node has anyway, or
	// for what no node can be without.
	declines []string
	plan     func(in *input, out *output)
}
