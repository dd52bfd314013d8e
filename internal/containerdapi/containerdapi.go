// Package containerdapi knows what the configuration of each minor release of containerd has: its plug-ins, their keys, and the kind of
// value of each key. It translates the configuration of one release into that of another, and finds what a release does not read.
//
// The names are a table, table.txt, that is generated from the types that each release decodes its configuration into. The package does
// no I/O and decides nothing. The planner asks it about the settings of a contract.
package containerdapi

import (
	_ "embed" // the table
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/versions"
)

//go:generate go run ./gen

//go:embed table.txt
var generated string

// span is a range of releases, by their places in the table.
type span struct{ first, last int }

// key is what one range of releases takes for a key.
type key struct {
	span
	// kind is b, i (integer), u (not negative), f, s, d (duration), x (any), {} (table), or [] before the kind of a list's items.
	kind string
}

// plugin is a plug-in, or the file outside of the plug-ins' tables.
type plugin struct {
	span
	// keys has the kinds of a key by its path, in which "*" stands for a name that users give.
	keys map[string][]key
	// below has the names of the keys of a table, by the table's path, sorted.
	below map[string][]string
}

type table struct {
	minors  []string // the releases, in order
	plugins map[string]*plugin
}

var known = sync.OnceValue(func() *table {
	first, rest, _ := strings.Cut(generated, "\n")
	t := &table{plugins: make(map[string]*plugin)}
	for _, release := range strings.Fields(first)[1:] {
		t.minors = append(t.minors, release[:strings.LastIndexByte(release, '.')])
	}
	var in *plugin
	for line := range strings.SplitSeq(strings.TrimSpace(rest), "\n") {
		if name, isPlugin := strings.CutPrefix(line, "["); isPlugin {
			name, of, _ := strings.Cut(name, "] ")
			in = &plugin{span: t.span(of), keys: make(map[string][]key), below: make(map[string][]string)}
			t.plugins[name] = in
			continue
		}
		path, kind, _ := strings.Cut(line, " ")
		kind, of, some := strings.Cut(kind, " ")
		k := key{in.span, kind}
		if some {
			k.span = t.span(of)
		}
		in.keys[path] = append(in.keys[path], k)
		parent, name := "", path
		if i := strings.LastIndexByte(path, '.'); i >= 0 {
			parent, name = path[:i], path[i+1:]
		}
		if !slices.Contains(in.below[parent], name) {
			in.below[parent] = append(in.below[parent], name)
		}
	}
	return t
})

func (t *table) span(text string) span {
	first, last, _ := strings.Cut(text, "-")
	return span{slices.Index(t.minors, first), slices.Index(t.minors, last)}
}

// pattern returns a path with "*" instead of the names that users choose.
func (p *plugin) pattern(path string) string {
	if len(p.keys[path]) > 0 {
		return path
	}
	at := ""
	for name := range strings.SplitSeq(path, ".") {
		if slices.Contains(p.below[at], "*") {
			name = "*"
		}
		at = strings.TrimPrefix(at+"."+name, ".")
	}
	return at
}

// Releases are the possible releases of a machine's containerd: one if its minor version is known, or else all of a main version.
type Releases struct {
	span
	// name is the version for people.
	name string
}

// Of returns the releases of a version. A version without a release in the table is read as the nearest one of its main version.
func Of(version string) Releases {
	t := known()
	v, ok := versions.Parse(version)
	text := strings.TrimPrefix(version, "v")
	major, _, _ := strings.Cut(text, ".")
	if major != "1" {
		major = "2" // as the planner takes it
	}
	isMajor := func(minor string) bool { return strings.HasPrefix(minor, major+".") }
	first := slices.IndexFunc(t.minors, isMajor)
	last := first
	for last+1 < len(t.minors) && isMajor(t.minors[last+1]) {
		last++
	}
	if !ok || v.Minor < 0 {
		return Releases{span{first, last}, major}
	}
	oldest, _ := versions.Parse(t.minors[first])
	at := max(first, min(first+v.Minor-oldest.Minor, last))
	return Releases{span{at, at}, major + "." + strconv.Itoa(v.Minor)}
}

// String is the version for people, such as "containerd 2.2".
func (r Releases) String() string { return "containerd " + r.name }

// AtLeast reports whether each of the releases is a minor version or newer.
func (r Releases) AtLeast(minor string) bool { return r.first >= slices.Index(known().minors, minor) }

// meets reports whether two ranges have a release in common.
func (s span) meets(o span) bool { return s.first <= o.last && o.first <= s.last }

// HasPlugin reports whether one of the releases has a plug-in, by its whole name.
func (r Releases) HasPlugin(name string) bool {
	p := known().plugins[name]
	return p != nil && p.meets(r.span)
}

// kinds returns the kinds of value that the releases accept for a plug-in's key; empty if no release has it.
func (r Releases) kinds(name, path string) (kinds []string) {
	p := known().plugins[name]
	if p == nil {
		return nil
	}
	for _, k := range p.keys[p.pattern(path)] {
		if k.meets(r.span) {
			kinds = append(kinds, k.kind)
		}
	}
	return kinds
}

// has reports whether one of the releases has a plug-in's key, or the plug-in itself if the path is empty.
func (r Releases) has(name, path string) bool {
	if path == "" {
		return r.HasPlugin(name)
	}
	return len(r.kinds(name, path)) > 0
}

// since describes, for people, which releases have a key; empty if none has.
func since(name, path string) string {
	t := known()
	p := t.plugins[name]
	if p == nil {
		return ""
	}
	whole := p.span
	if path != "" {
		keys := p.keys[p.pattern(path)]
		if len(keys) == 0 {
			return ""
		}
		whole = span{keys[0].first, keys[len(keys)-1].last}
		for _, k := range keys {
			whole = span{min(whole.first, k.first), max(whole.last, k.last)}
		}
	}
	first, last := t.minors[whole.first], t.minors[whole.last]
	switch {
	case first == last:
		return first
	case whole.last == len(t.minors)-1:
		return first + " and newer"
	}
	return first + " to " + last
}
