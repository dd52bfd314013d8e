// Package dialect reads a contract in whichever dialect it is written.
//
// It is the one door through which documents become configs: it detects the dialect, decodes and
// translates, sets defaults, validates, and reports every problem under the path at which the
// author of the document will find it. It decides nothing of its own and does no I/O. internal/compile
// calls it.
package dialect

import (
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

// Reading is what is said beside a document of how it is read.
type Reading struct {
	// Dialect is the one that the document is written in; empty for the one that it says itself.
	Dialect string
	// Profile is the family of nodes that the config is of, whatever the document says; empty for the document's own.
	Profile string
	// Choice is which node of a document of several is meant. Only a ClusterConfig of eksctl's has several.
	eksctl.Choice
}

// Dialect is one way to write a contract.
type Dialect struct {
	Name string
	// Title says whose it is and which version, in Markdown; Noun is what one of its documents is called.
	Title, Noun string
	// Document is a pointer to the Go type whose fields a document has; nil if the schema is not made from a Go type.
	Document any

	// mark is how a document is recognized, after the word "use".
	mark string
	// forms are names of single kinds of its documents, for people who have one.
	forms []string
	// text reads a text of it that is not one document of JSON or YAML, and reports whether it is one; nil if it has no such texts.
	text func([]byte) (tree *document.Node, problems []nodeconfig.Problem, is bool)
	// embedded finds a text of it within another one that cannot be read; nil if it has no such texts.
	embedded func([]byte) *nodeconfig.Problem
	// detect reports whether a document is written in it.
	detect func(*document.Node) bool
	// read translates it.
	read func(*document.Node, Reading) translated
	// chooses reports whether it reads the choice.
	chooses bool
	// unplanned are the fields that change nothing in a plan, and that cause no warning.
	unplanned []Reader
}

// translated is a document in NodeConfig's terms.
type translated struct {
	config   *nodeconfig.NodeConfig
	problems []nodeconfig.Problem
	// origin maps a path of the config to one of the document; origins to those of all that is at the path or below.
	origin  func(string) string
	origins func(string) []string
	// lacks reports whether the dialect has no field for a setting, so that it is set in a native document that is merged with this one;
	// nil for a dialect that is merged with none.
	lacks func(string) bool
	// document is one that is of this node alone, where the document is of others, too.
	document *document.Node
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

// Named returns the dialect of a name, or nil.
func Named(name string) *Dialect {
	if i := slices.IndexFunc(dialects, func(d *Dialect) bool { return d.Name == name }); i >= 0 {
		return dialects[i]
	}
	return nil
}

// listIndex is an index of a list in a path.
var listIndex = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[[0-9]+\]`) })

// placer returns a function from a path in what was decoded to one in the document: items that could
// not be read, each of which is a problem of its own, are in the document's lists and not in the others.
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

// alone is the origins of a dialect in which each path of the config has one origin.
func alone(origin func(string) string) func(string) []string {
	return func(path string) []string { return []string{origin(path)} }
}

// indexOf reads an index of a list, with its brackets.
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

// Forms are the names by which a document's kind can be named: those of the dialects, and of kinds of their documents. The
// value is the dialect.
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
	// Dialect is the one it is written in; empty where it could not be told.
	Dialect string
	// Config is complete and valid, unless a problem is fatal; never nil.
	Config *nodeconfig.NodeConfig
	// Problems are all that were found, fatal ones first, under the document's own paths.
	Problems []nodeconfig.Problem

	tree    *document.Node
	reading Reading
	// document is what is delivered to the node.
	document *document.Node
	origin   func(string) string
	origins  func(string) []string
	lacks    func(string) bool
	values   document.Finder
}

// IsDocument reports whether it is a document of a dialect that is known.
func (d *Decoded) IsDocument() bool { return d.tree != nil }

// Profile is the family of nodes that the document was read for; empty for its own.
func (d *Decoded) Profile() string { return d.reading.Profile }

// Written returns the config as the document says it: without defaults, and with what Config left out because it is not
// valid. It is read again at each call; the caller may change it. What is no document says nothing.
func (d *Decoded) Written() *nodeconfig.NodeConfig {
	if d.tree == nil {
		return new(nodeconfig.NodeConfig)
	}
	chosen, _ := choose(d.tree, d.Dialect)
	return d.reading.translate(chosen, d.tree).config
}

// Canonical is the document itself with its names sorted and its spaces gone: the same for every way of writing the
// same document. Of one that is of several nodes it has what is of this one, and is read as that without a [Reading]. It is as
// secret as the document, and nil for what is none.
func (d *Decoded) Canonical() []byte {
	if d.tree == nil {
		return nil
	}
	return d.document.AppendJSON(nil)
}

// Origin returns the document's own path for a path of Config; it is how problems that are found
// later are reported in the terms of who wrote the document.
func (d *Decoded) Origin(path string) string {
	if d.origin == nil {
		return path
	}
	return d.origin(path)
}

// Place returns a problem that was found later, in terms of Config, as one of the document: under its own path,
// with the place in its text.
func (d *Decoded) Place(p nodeconfig.Problem) nodeconfig.Problem {
	return d.locate(p.Translated(d.Origin, d.nameOf))
}

// nameOf is what the author of the document calls a setting.
func (d *Decoded) nameOf(setting string) string {
	if d.lacks != nil && d.lacks(setting) {
		return strings.TrimPrefix(setting, "$.") + " (in a native document that is merged with this one)"
	}
	return strings.TrimPrefix(d.Origin(setting), "$.")
}

// PlaceEach is Place for a problem that is about all that the document says at a path of Config, and below: one for
// each of the document's own settings there. That of one section of Config may be in several of the document's.
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

// locate adds the place in the text to a problem that has the document's path.
func (d *Decoded) locate(p nodeconfig.Problem) nodeconfig.Problem {
	if p.Line == 0 && p.Document == "" {
		if n := d.values.At(p.Path); n != nil {
			p.Line, p.Column = int(n.Line), int(n.Column)
		}
	}
	return p
}

// Decode reads a document. The dialect is detected where name is empty.
func Decode(data []byte, name string) Decoded { return DecodeAs(data, Reading{Dialect: name}) }

// DecodeAs reads a document as it is said.
func DecodeAs(data []byte, as Reading) Decoded {
	name := as.Dialect
	if isWindowsUserData(data) {
		return failed(name, nodeconfig.Problem{Kind: nodeconfig.Invalid, Path: "$", Reason: windowsOnly, Fatal: true})
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
		values: document.NewFinder(tree),
	}
	for i, p := range problems { // they are in the document's terms already
		problems[i] = read.locate(p)
	}
	if found := nodeconfig.Repair(config); len(found) > 0 {
		for _, p := range found {
			problems = append(problems, read.Place(p))
		}
		nodeconfig.Default(config) // what was taken out is as if it had never been there
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

// Parse reads the text of a document: JSON, YAML, or what a dialect has of its own. The problems are those of the text alone; if
// it cannot be read, there is no tree. Where name is empty, the document may be of any dialect.
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
	problems := []nodeconfig.Problem{nodeconfig.Unreadable(err)}
	for _, d := range dialects {
		if d.embedded == nil || name != "" && d.Name != name {
			continue
		}
		if p := d.embedded(data); p != nil {
			problems = append(problems, *p)
		}
	}
	return nil, problems
}

func failed(name string, problems ...nodeconfig.Problem) Decoded {
	return Decoded{Dialect: name, Config: new(nodeconfig.NodeConfig), Problems: problems}
}

// Of names the dialect that a document says it is written in; empty where it says none. Of a document of another
// program, another says what it is.
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
	var marks []string
	for _, d := range dialects {
		marks = append(marks, d.mark)
	}
	last := len(marks) - 1
	want := "use " + strings.Join(marks[:last], ", ") + ", or " + marks[last]
	if is := describeForeign(tree); is != "" {
		return nil, is + "; " + want
	}
	return nil, "is not a known contract: " + want
}

// unique sorts problems and keeps one for each path: where a value could not be read and is then
// missing, the first says it all. Fatal problems are kept before others.
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
