package launch

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// Merge makes one document of layers, whose order does not matter: a stronger source goes before a weaker one, field by field
// and entry by entry of a map. It shares nothing with the layers. Of two layers of one source the later one is stronger.
func Merge(layers []Layer) *Document {
	merged := new(Document)
	nodes := make([]*nodeconfig.NodeConfig, 0, len(layers))
	for _, l := range ranked(layers) {
		nodes = append(nodes, &l.Document.Node)
		merged.Machine.lay(&l.Document.Machine)
	}
	merged.Node = *nodeconfig.Merge(nodes...)
	return merged
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

// conflicts compares what was detected with what is taken in its place, which somebody has said.
func conflicts(layers []Layer, merged *Document) []nodeconfig.Problem {
	var problems []nodeconfig.Problem
	for i := range layers {
		found := &layers[i]
		if found.Source != Detected || found.Document == nil {
			continue
		}
		walk(found.Document, func(at []byte, detected reflect.Value) {
			path := string(at)
			taken := behind(valueAt(merged, path))
			if !taken.IsValid() || detected.Type() == secretType || reflect.DeepEqual(detected.Interface(), taken.Interface()) {
				return // nobody detects a secret
			}
			if m := fieldAt(at).means; m != nil && m.anyCase && strings.EqualFold(text(detected), text(taken)) {
				return
			}
			winner := setter(layers, path)
			if winner == nil || !slices.Contains(explicit, winner.Source) {
				return // another detection, of which the later one counts
			}
			problems = append(problems, nodeconfig.Problem{
				Kind: Conflict, Path: path,
				Reason: fmt.Sprintf("is %s in %s, and %s in %s; the first is used", quoted(taken), winner.where(path), quoted(detected), found.where(path)),
			})
		})
	}
	return problems
}

// quoted shows a value of a conflict, if it is short. What is long, such as a certificate, says nothing to people.
func quoted(v reflect.Value) string {
	if s := text(v); len(s) <= 64 {
		return fmt.Sprintf("%q", s)
	}
	return "another value"
}

// setter is the layer whose value of a path counts; nil for none.
func setter(layers []Layer, path string) (winner *Layer) {
	for _, l := range ranked(layers) {
		if behind(valueAt(l.Document, path)).IsValid() {
			winner = l
		}
	}
	return winner
}
