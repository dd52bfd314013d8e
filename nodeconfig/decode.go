package nodeconfig

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// neededToJoin are the paths without which no node joins: a value here that cannot be read is
// fatal, elsewhere it is a warning.
var neededToJoin = []string{
	"$.apiVersion", "$.kind", "$.cluster.kubernetesVersion", "$.cluster.server",
	"$.cluster.certificateAuthority", "$.join",
}

// Decode reads a native document, YAML or JSON. Unknown fields and values of the wrong type are
// reported and spoil only themselves; the returned config holds all the rest and is never nil.
// Neither defaults nor validation are applied.
func Decode(data []byte) (*NodeConfig, []Problem) {
	tree, err := document.Parse(data)
	if err != nil {
		return new(NodeConfig), []Problem{Unreadable(err)}
	}
	return FromTree(tree)
}

// FromTree is Decode for a document that is parsed already.
func FromTree(tree *document.Node) (*NodeConfig, []Problem) {
	var (
		config   NodeConfig
		problems []Problem
	)
	document.Decode(tree, &config, document.Options{
		Names: document.JSONNames,
		Report: func(f document.Fault) {
			p := ProblemOf(f)
			p.Fatal = p.Kind != Unknown && p.Kind != Deprecated && needed(p.Path)
			problems = append(problems, p)
		},
	})
	return &config, problems
}

func needed(path string) bool {
	for _, prefix := range neededToJoin {
		if rest, ok := strings.CutPrefix(path, prefix); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}
