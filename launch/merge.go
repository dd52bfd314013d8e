package launch

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Merge makes one document of layers, whose order does not matter: a stronger source goes before a weaker one, field by field
// and entry by entry of a map. It shares nothing with the layers. Of two layers of one source the later one is stronger.
func Merge(layers []Layer) *Document {
	sorted := make([]*Layer, len(layers))
	nodes := make([]*nodeconfig.NodeConfig, len(layers))
	for i := range layers {
		sorted[i] = &layers[i]
	}
	slices.SortStableFunc(sorted, func(a, b *Layer) int { return a.Source.rank() - b.Source.rank() })
	merged := new(Document)
	for i, l := range sorted {
		nodes[i] = &l.Document.Node
		merged.Machine.lay(&l.Document.Machine)
	}
	merged.Node = *nodeconfig.Merge(nodes...)
	return merged
}

// conflicts compares what was detected with what is taken in its place, which somebody has said.
func conflicts(layers []Layer, merged *Document) []nodeconfig.Problem {
	var problems []nodeconfig.Problem
	for i := range layers {
		if layers[i].Source != Detected {
			continue
		}
		compare("$", reflect.ValueOf(&layers[i].Document).Elem(), reflect.ValueOf(merged).Elem(), func(path string, detected, taken reflect.Value) {
			winner := setter(layers, path)
			if !slices.Contains(explicit, winner.Source) {
				return // another detection, of which the later one counts
			}
			problems = append(problems, nodeconfig.Problem{
				Kind: Conflict, Path: path,
				Reason: fmt.Sprintf("is %s in %s, and %s in %s; the first is used", quoted(taken), winner.Origin, quoted(detected), layers[i].Origin),
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

// compare calls differ for each value that v says and that is another one in merged.
func compare(path string, v, merged reflect.Value, differ func(path string, v, merged reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == secretType {
			return // nobody detects a secret
		}
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				continue
			}
			if names := document.JSONNames(v.Type().Field(i)); len(names) > 0 {
				compare(document.FieldPath(path, names[0]), v.Field(i), merged.Field(i), differ)
			}
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && !merged.IsNil() {
			compare(path, v.Elem(), merged.Elem(), differ)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if entry := merged.MapIndex(key); entry.IsValid() {
				compare(document.FieldPath(path, key.String()), v.MapIndex(key), entry, differ)
			}
		}
	default:
		if !reflect.DeepEqual(v.Interface(), merged.Interface()) {
			differ(path, v, merged)
		}
	}
}

// setter is the layer whose value of a path counts.
func setter(layers []Layer, path string) (winner Layer) {
	rank := -1
	for _, l := range layers {
		if l.Source.rank() < rank {
			continue
		}
		walk(&l.Document, func(at string, _ reflect.Value) {
			if at == path {
				winner, rank = l, l.Source.rank()
			}
		})
	}
	return winner
}
