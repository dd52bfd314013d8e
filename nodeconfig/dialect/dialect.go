// Package dialect reads a contract in any of its dialects.
//
// It is the only way from documents to configs: it detects the dialect, decodes and translates, sets defaults, validates, and
// reports every problem under the path that the author of the document knows. It decides nothing itself and does no I/O.
// internal/compile calls it.
package dialect

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/eksctl"
)

// Reading selects how a document is read.
type Reading struct {
	// Dialect is the document's dialect. Empty means the one that the document itself names.
	Dialect string
	// Profile is the config's family of nodes, which overrides the document. Empty means the document's own.
	Profile string
	// Choice selects a node of a document with several. Only eksctl's ClusterConfig has several.
	eksctl.Choice
}

// Dialect is one way to write a contract.
type Dialect struct {
	Name string
	// Title names the owner and the version, in Markdown; Noun is the name for one of its documents.
	Title, Noun string
	// Document is a pointer to the Go type with a document's fields. It is nil if the schema is not made from a Go type.
	Document any

	// mark describes how a document is detected, after the word "use".
	mark string
	// forms are names of its single kinds of documents, for people who have one.
	forms []string
	// text reads a text that is not one document of JSON or YAML, and reports whether the dialect has it. It is nil if the dialect
	// has no such texts.
	text func([]byte) (tree *document.Node, problems []nodeconfig.Problem, is bool)
	// embedded finds such a text within another one that cannot be read. It is nil if the dialect has no such texts.
	embedded func([]byte) *nodeconfig.Problem
	// detect reports whether a document is in the dialect.
	detect func(*document.Node) bool
	// read translates it.
	read func(*document.Node, Reading) translated
	// chooses reports whether read uses the choice.
	chooses bool
	// unplanned are the fields that change nothing in a plan, and cause no warning.
	unplanned []Reader
}

// translated is a document in NodeConfig's terms.
type translated struct {
	config   *nodeconfig.NodeConfig
	problems []nodeconfig.Problem
	// origin maps a path of the config to one of the document; origins maps it to those of all values at or below the path.
	origin  func(string) string
	origins func(string) []string
	// lacks reports whether the dialect has no field for a setting, so that it must be set in a native document that is merged with
	// this one. It is nil for a dialect that cannot be merged.
	lacks func(string) bool
	// document is the part for this node alone, if the document also describes others.
	document *document.Node
	// places is the document with the lines of all its values; nil for the document itself.
	places *document.Node
	// elsewhere returns the name of another document, and the path in it, if that has the value of a path of the document; nil for none.
	elsewhere func(path string) (name, at string, ok bool)
}

// dialects are tried in this order.
var dialects = []*Dialect{
	&native,
	&aksContract,
	&clusterConfig,
	&kubeadmJoin,
}

// All returns the dialects, Slipway's own first.
func All() []*Dialect { return slices.Clone(dialects) }

// Named returns the dialect with a name, or nil.
func Named(name string) *Dialect {
	if i := slices.IndexFunc(dialects, func(d *Dialect) bool { return d.Name == name }); i >= 0 {
		return dialects[i]
	}
	return nil
}

// listIndex matches a list's index in a path.
var listIndex = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[[0-9]+\]`) })

// placer returns a function from a path in the decoded value to one in the document. The document's lists contain items that could
// not be read, each with a separate problem, and the decoded lists do not.
func placer(unread []nodeconfig.Problem) func(string) string {
	missing := make(map[string][]int) // by list, ascending
	for _, p := range unread {
		if at := strings.LastIndexByte(p.Path, '['); at >= 0 {
			if i, ok := indexOf(p.Path[at:]); ok {
				missing[p.Path[:at]] = append(missing[p.Path[:at]], i)
			}
		}
	}
	return func(path string) string {
		var placed string
		for at := listIndex().FindStringIndex(path); at != nil; at = listIndex().FindStringIndex(path) {
			placed += path[:at[0]]
			index := path[at[0]:at[1]]
			if i, ok := indexOf(index); ok {
				for _, before := range missing[placed] {
					if before <= i {
						i++
					}
				}
				index = document.IndexPath("", i)
			}
			placed, path = placed+index, path[at[1]:]
		}
		return placed + path
	}
}

// alone returns the origins for a dialect in which each path of the config has one origin.
func alone(origin func(string) string) func(string) []string {
	return func(path string) []string { return []string{origin(path)} }
}

// indexOf parses a list index with its brackets.
func indexOf(s string) (int, bool) {
	i, err := strconv.Atoi(strings.Trim(s, "[]"))
	return i, err == nil && document.IndexPath("", i) == s
}

// Names returns the dialects' names.
func Names() []string {
	var names []string
	for _, d := range dialects {
		names = append(names, d.Name)
	}
	return names
}

// Forms returns the names for a document's kind, with their dialects: those of the dialects, and of kinds of their documents.
func Forms() map[string]string {
	forms := make(map[string]string)
	for _, d := range dialects {
		for _, form := range append(d.forms, d.Name) {
			forms[form] = d.Name
		}
	}
	return forms
}

// Decoded is a document that has been read.
type Decoded struct {
	// Dialect is the document's dialect. It is empty if the dialect is unknown.
	Dialect string
	// Config is complete and valid, unless a problem is fatal. It is never nil.
	Config *nodeconfig.NodeConfig
	// Problems are all problems, fatal ones first, under the document's own paths.
	Problems []nodeconfig.Problem

	tree    *document.Node
	reading Reading
	// document is the document that the node gets.
	document *document.Node
	origin   func(string) string
	origins  func(string) []string
	lacks    func(string) bool
	values   document.Finder

	elsewhere func(path string) (name, at string, ok bool)
}

// IsDocument reports whether the document's dialect is known.
func (d *Decoded) IsDocument() bool { return d.tree != nil }

// Profile returns the family of nodes that the document was read for. Empty means its own.
func (d *Decoded) Profile() string { return d.reading.Profile }

// Written returns the document's values as a config: without defaults, and with the invalid values that Config leaves out. Each
// call reads the document again, so the caller may change the result. If the dialect is unknown, the config is empty.
func (d *Decoded) Written() *nodeconfig.NodeConfig {
	if d.tree == nil {
		return new(nodeconfig.NodeConfig)
	}
	chosen, _ := choose(d.tree, d.Dialect)
	return d.reading.translate(chosen, d.tree).config
}

// Canonical returns the document with its names sorted and without spaces: it is the same for every spelling of the same document.
// If the document describes several nodes, the result has only this node's part, and can be read without a [Reading]. It is as
// secret as the document. It is nil if the dialect is unknown.
func (d *Decoded) Canonical() []byte {
	if d.tree == nil {
		return nil
	}
	return d.document.AppendJSON(nil)
}

// Origin returns the document's own path for a path of Config, so that later problems are reported in the terms of the document's
// author.
func (d *Decoded) Origin(path string) string {
	if d.origin == nil {
		return path
	}
	return d.origin(path)
}

// Place converts a later problem in terms of Config to one of the document: under its own path, with the position in its text.
func (d *Decoded) Place(p nodeconfig.Problem) nodeconfig.Problem {
	return d.locate(p.Translated(d.Origin, d.nameOf))
}

// nameOf returns the document author's name for a setting.
func (d *Decoded) nameOf(setting string) string {
	if d.lacks != nil && d.lacks(setting) {
		return strings.TrimPrefix(setting, "$.") + " (in a native document that is merged with this one)"
	}
	origin := d.Origin(setting)
	if d.elsewhere != nil {
		if name, at, ok := d.elsewhere(origin); ok {
			return strings.TrimPrefix(at, "$.") + " of " + name
		}
	}
	return strings.TrimPrefix(origin, "$.")
}

// PlaceEach is Place for a problem about all values at or below a path of Config: it returns one for each of the document's own
// settings there. One section of Config may come from several sections of the document.
func (d *Decoded) PlaceEach(p nodeconfig.Problem) []nodeconfig.Problem {
	if d.origins == nil {
		return []nodeconfig.Problem{p}
	}
	var placed []nodeconfig.Problem
	own := p.Path
	p = p.Translated(d.Origin, d.nameOf)
	for _, path := range d.origins(own) {
		p.Path = path
		placed = append(placed, d.locate(p))
	}
	return placed
}

// locate adds the position in the text to a problem with the document's path.
func (d *Decoded) locate(p nodeconfig.Problem) nodeconfig.Problem {
	if p.Document == "" && d.elsewhere != nil {
		if name, at, ok := d.elsewhere(p.Path); ok {
			p.Document, p.Path, p.Line, p.Column = name, at, 0, 0
		}
	}
	if p.Line == 0 && p.Document == "" {
		if n := d.values.At(p.Path); n != nil {
			p.Line, p.Column = int(n.Line), int(n.Column)
		}
	}
	return p
}

// Decode reads a document. If name is empty, it detects the dialect.
func Decode(data []byte, name string) Decoded { return DecodeAs(data, Reading{Dialect: name}) }

// DecodeAs reads a document with a given Reading.
func DecodeAs(data []byte, as Reading) Decoded {
	name := as.Dialect
	if is := describeText(data); is != "" {
		return failed(name, nodeconfig.Problem{Kind: nodeconfig.Invalid, Path: "$", Reason: is, Fatal: true})
	}
	tree, unread := Parse(data, name)
	if tree == nil {
		return failed(name, unread...)
	}
	d, reason := choose(tree, name)
	if d == nil {
		return failed(name, nodeconfig.Problem{Kind: nodeconfig.Invalid, Path: "$", Reason: reason, Fatal: true})
	}
	result := as.translate(d, tree)
	config, problems := result.config, append(unread, result.problems...)
	if !d.chooses && (as.NodeGroup != "" || as.Cluster != nil) {
		problems = append(problems, nodeconfig.Problem{
			Kind: nodeconfig.NotApplied, Path: "$", Reason: "is of one node, and says where its cluster is: the node group and the description of a cluster that were given are not read",
		})
	}
	nodeconfig.Default(config)
	read := Decoded{
		Dialect: d.Name, Config: config, tree: tree, reading: as, document: result.document, origin: result.origin, origins: result.origins, lacks: result.lacks,
		values: document.NewFinder(cmp.Or(result.places, tree)), elsewhere: result.elsewhere,
	}
	for i, p := range problems { // they are in the document's terms already
		problems[i] = read.locate(p)
	}
	if found := nodeconfig.Repair(config); len(found) > 0 {
		for _, p := range found {
			problems = append(problems, read.Place(p))
		}
		nodeconfig.Default(config) // for a removed value, the default applies
	}
	read.Problems = unique(problems)
	return read
}

// translate translates a document of a dialect.
func (as *Reading) translate(d *Dialect, tree *document.Node) translated {
	result := d.read(tree, *as)
	if as.Profile != "" {
		result.config.Components.Layout = as.Profile
	}
	return result
}

// Parse parses a document: JSON, YAML, or a dialect's own form. The problems are only those of the text. If the text cannot be
// parsed, the tree is nil. If name is empty, the document may be in any dialect.
func Parse(data []byte, name string) (*document.Node, []nodeconfig.Problem) {
	for _, d := range dialects {
		if d.text == nil || name != "" && d.Name != name {
			continue
		}
		if tree, problems, is := d.text(data); is {
			return tree, problems
		}
	}
	tree, err := document.Parse(data)
	if err == nil {
		return tree, nil
	}
	return nil, append([]nodeconfig.Problem{nodeconfig.Unreadable(err)}, Embedded(data, name)...)
}

// Embedded returns problems about texts of a dialect, such as a command line, within another text that cannot be read. If name is
// empty, they may be of any dialect.
func Embedded(data []byte, name string) (problems []nodeconfig.Problem) {
	for _, d := range dialects {
		if d.embedded == nil || name != "" && d.Name != name {
			continue
		}
		if p := d.embedded(data); p != nil {
			problems = append(problems, *p)
		}
	}
	return problems
}

// Claims reports whether a dialect detects a document as its own, or has it as a text that is neither JSON nor YAML. If name is
// empty, any dialect may.
func Claims(data []byte, name string) bool {
	for _, d := range dialects {
		if d.text == nil || name != "" && d.Name != name {
			continue
		}
		if _, _, is := d.text(data); is {
			return true
		}
	}
	tree, err := document.Parse(data)
	return err == nil && slices.ContainsFunc(dialects, func(d *Dialect) bool { return d.detect(tree) })
}

func failed(name string, problems ...nodeconfig.Problem) Decoded {
	return Decoded{Dialect: name, Config: new(nodeconfig.NodeConfig), Problems: problems}
}

// Of returns the dialect that a document names, or "". For a document of another program, another describes it.
func Of(tree *document.Node) (name, another string) {
	if d, _ := choose(tree, ""); d != nil {
		return d.Name, ""
	}
	return "", describeForeign(tree)
}

func choose(tree *document.Node, name string) (*Dialect, string) {
	for _, d := range dialects {
		if d.Name == name || name == "" && d.detect(tree) {
			return d, ""
		}
	}
	if name != "" {
		return nil, fmt.Sprintf("unknown dialect %q; use one of %s", name, strings.Join(Names(), ", "))
	}
	if is := describeForeign(tree); is != "" {
		return nil, is + "; " + Wanted()
	}
	return nil, "is not a known contract: " + Wanted()
}

// Wanted tells the author of an unknown document how each dialect is detected.
func Wanted() string {
	var marks []string
	for _, d := range dialects {
		marks = append(marks, d.mark)
	}
	last := len(marks) - 1
	return "use " + strings.Join(marks[:last], ", ") + ", or " + marks[last]
}

// unique sorts problems and keeps one for each path: if a value could not be read and is therefore missing, the first problem is
// enough. Fatal problems win over others.
func unique(problems []nodeconfig.Problem) []nodeconfig.Problem {
	seen := make(map[string]bool, len(problems))
	var kept []nodeconfig.Problem
	for _, fatal := range []bool{true, false} {
		for _, p := range problems {
			if p.Fatal == fatal && !seen[p.Path] {
				seen[p.Path] = true
				kept = append(kept, p)
			}
		}
	}
	nodeconfig.SortProblems(kept)
	return kept
}
