package spec

import (
	"cmp"
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/image/kind"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Parse reads a document in YAML or JSON. All problems are fatal: a component that is left out would make another image.
func Parse(data []byte) (*Document, []nodeconfig.Problem) {
	d := new(Document)
	return d, Decode(data, d, d.validate)
}

// Decode reads a document in YAML or JSON into target, which validate then checks. It returns all problems, each with its place. It
// is for this document and for the lock, which are strict alike.
func Decode(data []byte, target any, validate func(*problem.Collector)) []nodeconfig.Problem {
	tree, err := document.Parse(data)
	if err != nil {
		return []nodeconfig.Problem{nodeconfig.Unreadable(err)}
	}
	var found problem.Collector
	document.Decode(tree, target, document.Options{Names: document.JSONNames, Strict: true, Report: func(f document.Fault) {
		p := nodeconfig.ProblemOf(f, true)
		p.Fatal = true
		found.Add(p)
	}})
	var checked problem.Collector
	validate(&checked)
	values := document.NewFinder(tree)
	for _, p := range checked.List {
		if slices.ContainsFunc(found.List, func(other nodeconfig.Problem) bool { return document.Within(other.Path, p.Path) }) {
			continue // the value is not the one of the document
		}
		if at := cmp.Or(values.At(p.Path), tree); at != nil {
			p.Line, p.Column = int(at.Line), int(at.Column)
		}
		found.Add(p)
	}
	nodeconfig.SortProblems(found.List)
	return found.List
}

// Whole is a component with everything that its document, its kind and its place in the document add to it.
type Whole struct {
	Component
	// Row is its kind's row.
	Row *kind.Kind
	// Range is its version.
	Range Range
	// Take are its files.
	Take []kind.File
}

// Wholes completes the components of a valid document, sorted by name.
func (d *Document) Wholes() []Whole {
	all := make([]Whole, 0, len(d.Components))
	for _, c := range d.Components {
		all = append(all, d.whole(c))
	}
	slices.SortFunc(all, func(a, b Whole) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// whole completes a component. A component of an unknown kind has no row.
func (d *Document) whole(c Component) Whole {
	w := Whole{Component: c, Row: kind.Named(cmp.Or(c.Kind, c.Name))}
	w.Range, _ = ParseRange(c.Version)
	if len(c.Architectures) == 0 {
		w.Architectures = d.Machines()
	}
	if w.Row == nil {
		return w
	}
	w.Kind, w.License, w.Take = w.Row.Name, cmp.Or(c.License, w.Row.License), w.Row.Files
	if len(c.Files) > 0 {
		w.Take = nil
		for _, f := range c.Files {
			file := kind.File{Path: f.Path, Mode: cmp.Or(f.Mode, defaultMode)}
			if f.Member != "" {
				file.Members = []string{f.Member}
			}
			w.Take = append(w.Take, file)
		}
	}
	return w
}

const defaultMode = "0755"

// Machines are the document's architectures.
func (d *Document) Machines() []string {
	possible := slices.DeleteFunc(slices.Clone(Architectures), func(a string) bool { return !slices.Contains(d.Architectures, a) })
	if len(possible) == 0 {
		return Architectures[:1]
	}
	return possible
}
