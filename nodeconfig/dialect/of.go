package dialect

import "github.com/slipway-dev/slipway/internal/document"

// Of names the dialect that a document says it is written in; empty where it says none. Of a document of another
// program, another says what it is.
func Of(tree *document.Node) (name, another string) {
	if d, _ := choose(tree, ""); d != nil {
		return d.name, ""
	}
	return "", anothers(tree)
}
