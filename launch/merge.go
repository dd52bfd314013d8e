package launch

import (
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// merge makes one document of layers, whose order does not matter: a stronger source goes before a weaker one, field by field
// and entry by entry of a map. It shares nothing with the layers. Of two layers of one source the later one is stronger.
func merge(layers []Layer) *Document {
	documents := make([]*Document, 0, len(layers))
	for _, l := range ranked(layers) {
		documents = append(documents, l.Document)
	}
	return overlay(documents...)
}

// overlay is a document with what each later one says over the earlier ones. It shares nothing with them.
func overlay(documents ...*Document) *Document {
	d, nodes := new(Document), make([]*nodeconfig.NodeConfig, len(documents))
	for i, from := range documents {
		nodes[i] = &from.Node
		document.Overlay(&d.Machine, &from.Machine)
	}
	d.Node = *nodeconfig.Merge(nodes...)
	return d
}

// ranked are the layers that say something, the weakest first.
func ranked(layers []Layer) []*Layer {
	sorted := make([]*Layer, 0, len(layers))
	for i := range layers {
		if layers[i].Document != nil {
			sorted = append(sorted, &layers[i])
		}
	}
	slices.SortStableFunc(sorted, func(a, b *Layer) int { return a.Source.rank() - b.Source.rank() })
	return sorted
}

// conflicts compares what was detected with what an author has said in its place, by their meaning.
func conflicts(layers []Layer) []nodeconfig.Problem {
	var authors []*Layer // the strongest first
	var trees []*document.Node
	for _, l := range slices.Backward(ranked(layers)) {
		if slices.Contains(explicit, l.Source) {
			authors, trees = append(authors, l), append(trees, treeOf(l.Document))
		}
	}
	var problems []nodeconfig.Problem
	for i := range layers {
		found := &layers[i]
		if found.Source != Detected {
			continue
		}
		found.each(func(at []byte, detected *document.Node) {
			for i, tree := range trees {
				taken := tree.At(string(at))
				if taken == nil {
					continue
				}
				row := fieldAt(at)
				if row.same(taken) != row.same(detected) || row.means != nil && row.means.builds && taken.Text != detected.Text {
					path := string(at)
					problems = append(problems, nodeconfig.Problem{
						Kind: nodeconfig.Conflict, Path: path,
						Reason: fmt.Sprintf("is %s in %s, and %s in %s; the first is used", quoted(taken), authors[i].where(path), quoted(detected), found.where(path)),
					})
				}
				return
			}
		})
	}
	return problems
}

// quoted shows a value of a conflict, if it is short. What is long, such as a certificate, says nothing to people.
func quoted(n *document.Node) string {
	if s := textOf(n); len(s) <= 64 {
		return fmt.Sprintf("%q", s)
	}
	return "another value"
}
