package nodeconfig

import (
	"github.com/slipway-dev/slipway/internal/document"
)

// FromTree reads a native document. Unknown fields and values of the wrong type are
// reported and spoil only themselves; the returned config holds all the rest and is never nil.
// Neither defaults nor validation are applied.
func FromTree(tree *document.Node) (*NodeConfig, []Problem) {
	var (
		config   NodeConfig
		problems []Problem
	)
	document.Decode(tree, &config, document.Options{
		Names: document.JSONNames,
		Report: func(f document.Fault) {
			problems = append(problems, ProblemOf(f, Vital(f.Path)))
		},
	})
	seal(&config)
	return &config, problems
}
