// Package kubeletapi knows the settings of the kubelet in each minor version of Kubernetes: the fields of its configuration, its
// feature gates and its flags, and the values with which it does not start.
//
// The names are a table, table.txt, which is generated from the source of each version. The rules for values are the rows of
// rules.go. The package reads nothing else and decides nothing: it reports how a kubelet would handle a setting. The planner calls
// it.
package kubeletapi

import (
	_ "embed" // the table
	"iter"
	"strconv"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/document"
)

//go:generate go run ./gen

// The minor versions of Kubernetes 1.x that Slipway supports: a case of test/cases provisions a node of the oldest and of the
// newest, and the table has all between. Other versions are planned like the nearest one, with a warning.
const (
	OldestSupported = 26
	NewestSupported = 37
)

//go:embed table.txt
var generated string

// span is a name's row in the table, and the minors that it is for.
type span struct {
	// kind is the kind of a value. For a feature gate it is its stage and its default.
	kind string
	// field is the field of the configuration that a flag sets. Empty means none.
	field        string
	since, until int
}

func (s span) has(minor int) bool { return s.since <= minor && minor <= s.until }

// table is table.txt: sorted lines, in sections. It is searched without parsing, because a configuration has few names, and the
// table many.
type table struct {
	oldest, newest                 int
	fields, gates, requires, flags string
}

var known = sync.OnceValue(func() *table {
	t := new(table)
	first, rest, _ := strings.Cut(generated, "\n[fields]")
	words := strings.Fields(first) // "minors 22 37"
	t.oldest, t.newest = number(words[1]), number(words[2])
	t.fields, rest, _ = strings.Cut(rest, "[gates]")
	t.gates, rest, _ = strings.Cut(rest, "[requires]")
	t.requires, t.flags, _ = strings.Cut(rest, "[flags]")
	return t
})

// spans yields a section's rows for a name. owner is the struct of a field, or "".
func (t *table) spans(section, owner, name string) iter.Seq[span] {
	return func(yield func(span) bool) {
		for line := range strings.SplitSeq(section[t.start(section, owner, name):], "\n") {
			if owner != "" {
				line, _ = strings.CutPrefix(line, owner+" ")
			}
			if rest, ok := strings.CutPrefix(line, name); !ok || rest == "" || rest[0] != ' ' || !yield(t.span(rest[1:])) {
				return
			}
		}
	}
}

// start returns where a section's lines for a name begin, or would begin.
func (t *table) start(section, owner, name string) int {
	if name == "" {
		return len(section)
	}
	for at := 0; ; {
		i := strings.Index(section[at:], name)
		if i < 0 {
			return len(section)
		}
		at += i
		line := at
		if owner != "" {
			line -= len(owner) + 1
		}
		if end := at + len(name); line > 0 && section[line-1] == '\n' && strings.HasPrefix(section[line:], owner) && end < len(section) && section[end] == ' ' {
			return line
		}
		at++
	}
}

// span parses the rest of a line after the name: a kind, the field of a flag, and the minors if these are not all.
func (t *table) span(rest string) span {
	kind, rest, _ := strings.Cut(rest, " ")
	s := span{kind: kind, since: t.oldest, until: t.newest}
	if word, after, more := strings.Cut(rest, " "); !strings.Contains(word, "-") {
		s.field = word
		if rest = ""; more {
			rest = after
		}
	}
	since, until, _ := strings.Cut(rest, "-")
	if since != "" {
		s.since = number(since)
	}
	if until != "" {
		s.until = number(until)
	}
	return s
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic("kubeletapi: table.txt has a minor version that is no number: " + s)
	}
	return n
}

// clamp returns the minor in the table that is nearest to a minor.
func (t *table) clamp(minor int) int { return max(t.oldest, min(minor, t.newest)) }

// presence is whether a minor has a name.
type presence struct {
	// span is the minor's row. Its kind is empty if the minor does not have the name.
	span
	// why is the reason for people if the minor does not have it.
	why string
	// elsewhere reports whether another minor has it.
	elsewhere bool
}

// find looks a name up. what is the name's kind for the reason: "field", "flag".
func (t *table) find(section, owner, name, what string, minor int) presence {
	minor = t.clamp(minor)
	removed, added := 0, 0
	for s := range t.spans(section, owner, name) {
		switch {
		case s.has(minor):
			return presence{span: s}
		case s.until < minor:
			removed = max(removed, s.until+1)
		default:
			added = s.since
		}
	}
	switch {
	case removed > 0:
		return presence{elsewhere: true, why: "Kubernetes 1." + strconv.Itoa(removed) + " removed this " + what}
	case added > 0:
		return presence{elsewhere: true, why: "Kubernetes 1." + strconv.Itoa(added) + " added this " + what}
	}
	return presence{why: "no kubelet has this " + what}
}

// nearest returns a hint with the most similar name.
func (t *table) nearest(section, owner, name string, minor int) string {
	var names []string
	for line := range strings.SplitSeq(strings.Trim(section, "\n"), "\n") {
		rest, ok := strings.CutPrefix(line, owner)
		if ok && owner != "" {
			rest, ok = strings.CutPrefix(rest, " ")
		}
		if candidate, rest, _ := strings.Cut(rest, " "); ok && t.span(rest).has(minor) {
			names = append(names, candidate)
		}
	}
	return document.Suggestion(name, names)
}
