package launch

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Merge makes one document of layers, whose order does not matter: a stronger source goes before a weaker one, field by field
// and entry by entry of a map. It shares nothing with the layers. Of two layers of one source the later one is stronger.
func Merge(layers []Layer) *Document {
	merged := new(Document)
	merged.merge(layers)
	return merged
}

// usualLayers is more than most clouds have; so much room of a constant size takes no allocation.
const usualLayers = 16

// merge makes an empty document what layers say.
func (d *Document) merge(layers []Layer) {
	nodes := make([]*nodeconfig.NodeConfig, 0, usualLayers)
	for _, l := range ranked(layers) {
		nodes = append(nodes, &l.Document.Node)
		d.Machine.lay(&l.Document.Machine)
	}
	d.Node = *nodeconfig.Merge(nodes...)
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
func conflicts(layers []Layer, fields []Field, merged *Document) []nodeconfig.Problem {
	c := comparer{layers: layers, fields: fields, at: make([]string, 0, deepest)}
	for i := range layers {
		if layers[i].Source == Detected && layers[i].Document != nil {
			c.found = &layers[i]
			c.compare(reflect.ValueOf(layers[i].Document).Elem(), reflect.ValueOf(merged).Elem())
		}
	}
	return c.problems
}

// quoted shows a value of a conflict, if it is short. What is long, such as a certificate, says nothing to people.
func quoted(v reflect.Value) string {
	if s := text(v); len(s) <= 64 {
		return fmt.Sprintf("%q", s)
	}
	return "another value"
}

// deepest is more than the names of most paths.
const deepest = 8

// comparer looks for each value that one document says and that is another one in a second. Paths are made for those alone.
type comparer struct {
	layers   []Layer
	fields   []Field
	found    *Layer // whose document is the first
	at       []string
	problems []nodeconfig.Problem
}

// differ reports a value that differs, where somebody has said the other one.
func (c *comparer) differ(detected, taken reflect.Value) {
	path := "$"
	for _, name := range c.at {
		path = document.FieldPath(path, name)
	}
	if f := fieldOf(c.fields, path); f != nil && f.AnyCase && strings.EqualFold(text(detected), text(taken)) {
		return
	}
	winner := setter(c.layers, path)
	if winner == nil || !slices.Contains(explicit, winner.Source) {
		return // another detection, of which the later one counts
	}
	c.problems = append(c.problems, nodeconfig.Problem{
		Kind: Conflict, Path: path,
		Reason: fmt.Sprintf("is %s in %s, and %s in %s; the first is used", quoted(taken), winner.where(path), quoted(detected), c.found.where(path)),
	})
}

func (c *comparer) compare(v, merged reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == secretType {
			return // nobody detects a secret
		}
		for i, name := range namesOf(v.Type()) {
			if name == "" {
				continue
			}
			if f := v.Field(i); !f.IsZero() {
				c.below(name, f, merged.Field(i))
			}
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && !merged.IsNil() {
			c.compare(v.Elem(), merged.Elem())
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if entry := merged.MapIndex(key); entry.IsValid() {
				c.below(key.String(), v.MapIndex(key), entry)
			}
		}
	default:
		if !same(v, merged) {
			c.differ(v, merged)
		}
	}
}

// same reports whether two values that have nothing below them are the same.
func same(a, b reflect.Value) bool {
	switch {
	case a.Kind() != b.Kind():
		return false
	case isScalar(a):
		return a.Equal(b)
	case a.Kind() != reflect.Slice:
		return reflect.DeepEqual(a.Interface(), b.Interface())
	case a.Len() != b.Len():
		return false
	}
	for i := range a.Len() {
		if !same(a.Index(i), b.Index(i)) {
			return false
		}
	}
	return true
}

// below compares what has a name in both.
func (c *comparer) below(name string, v, merged reflect.Value) {
	c.at = append(c.at, name)
	c.compare(v, merged)
	c.at = c.at[:len(c.at)-1]
}

// setter is the layer whose value of a path counts; nil for none.
func setter(layers []Layer, path string) (winner *Layer) {
	for i := range layers {
		l := &layers[i]
		if l.Document == nil || winner != nil && l.Source.rank() < winner.Source.rank() {
			continue
		}
		newWalker(func(at []byte, _ reflect.Value) {
			if string(at) == path {
				winner = l
			}
		}).at(l.Document, path)
	}
	return winner
}
