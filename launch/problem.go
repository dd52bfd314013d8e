package launch

import (
	"reflect"
	"slices"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// Join adds problems to those that are known already. Of a place for which something fatal is known nothing more is said.
func Join(known []nodeconfig.Problem, found ...nodeconfig.Problem) []nodeconfig.Problem {
	all := known
	for _, p := range found {
		if !slices.ContainsFunc(known, func(k nodeconfig.Problem) bool { return k.Fatal && k.Path == p.Path && k.Document == p.Document }) {
			all = append(all, p)
		}
	}
	return all
}

// placed is a problem with a value of the document, at the place where somebody has said that value.
func (b *Base) placed(p nodeconfig.Problem) nodeconfig.Problem {
	for i := range b.layers {
		l := &b.layers[i]
		if l.Place == nil || p.Document != "" {
			continue
		}
		said := false
		newWalker(func([]byte, reflect.Value) { said = true }).at(l.Document, p.Path)
		if place, ok := l.Place(p.Path); said && ok {
			p.Path, p.Document = place, l.Origin
		}
	}
	return p
}
