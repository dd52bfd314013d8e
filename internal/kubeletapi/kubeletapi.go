// Package kubeletapi knows what a kubelet of each minor version of Kubernetes can be told: the fields of its
// configuration, its feature gates and its flags.
//
// What it knows is a table, table.txt, that is generated from the source of each version. The package reads
// nothing else, and decides nothing: it says what a kubelet would make of a setting. The planner asks it.
package kubeletapi

import (
	_ "embed" // the table
	"strconv"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/document"
)

//go:generate go run ./gen

// The minor versions of Kubernetes 1.x that Slipway supports: a case of test/cases provisions a node of each
// end, and the table knows all between. Others are planned like the nearest, with a warning.
const (
	OldestSupported = 26
	NewestSupported = 37
)

//go:embed table.txt
var generated string

// span is a kind of value, and the minors that take it.
type span struct {
	kind         string
	since, until int
}

func (s span) has(minor int) bool { return s.since <= minor && minor <= s.until }

// table is table.txt, read.
type table struct {
	oldest, newest int
	// fields are by the name of their struct and their own.
	fields map[string]map[string][]span
	gates  map[string][]span
	flags  map[string][]span
}

// known is the table; it is read when it is asked for first.
var known = sync.OnceValue(func() *table {
	t := &table{fields: make(map[string]map[string][]span), gates: make(map[string][]span), flags: make(map[string][]span)}
	section := ""
	for line := range strings.Lines(generated) {
		words := strings.Fields(line)
		switch {
		case len(words) == 3 && words[0] == "minors":
			t.oldest, t.newest = number(words[1]), number(words[2])
		case len(words) == 1 && words[0][0] == '[':
			section = words[0]
		case section == "[fields]":
			if t.fields[words[0]] == nil {
				t.fields[words[0]] = make(map[string][]span)
			}
			t.add(t.fields[words[0]], words[1], words[2], words[3:])
		case section == "[gates]":
			t.add(t.gates, words[0], "b", words[1:])
		case section == "[flags]":
			t.add(t.flags, words[0], words[1], words[2:])
		}
	}
	return t
})

func (t *table) add(to map[string][]span, name, kind string, minors []string) {
	s := span{kind, t.oldest, t.newest}
	if len(minors) > 0 {
		since, until, _ := strings.Cut(minors[0], "-")
		if since != "" {
			s.since = number(since)
		}
		if until != "" {
			s.until = number(until)
		}
	}
	to[name] = append(to[name], s)
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic("kubeletapi: table.txt has a minor version that is no number: " + s)
	}
	return n
}

// clamp is the minor that the table has nearest to one.
func (t *table) clamp(minor int) int { return max(t.oldest, min(minor, t.newest)) }

// presence is whether a minor has a name.
type presence struct {
	// kind is what it takes; empty where the minor does not have it.
	kind string
	// why says so for people, where the minor does not have it.
	why string
	// elsewhere says that another minor has it.
	elsewhere bool
}

// find looks a name up. What it is called is for the reason: "field", "flag".
func (t *table) find(spans map[string][]span, name, what string, minor int) presence {
	minor = t.clamp(minor)
	var p presence
	for _, s := range spans[name] {
		switch {
		case s.has(minor):
			return presence{kind: s.kind}
		case s.until < minor:
			p = presence{elsewhere: true, why: "Kubernetes 1." + strconv.Itoa(s.until+1) + " removed this " + what}
		case p.why == "":
			p = presence{elsewhere: true, why: "Kubernetes 1." + strconv.Itoa(s.since) + " added this " + what}
		}
	}
	if p.why == "" {
		p.why = "no kubelet has this " + what
	}
	return p
}

// nearest offers the name that was probably meant.
func nearest(spans map[string][]span, name string, minor int) string {
	var names []string
	for candidate, of := range spans {
		for _, s := range of {
			if s.has(minor) {
				names = append(names, candidate)
			}
		}
	}
	if best := document.Nearest(name, names); best != "" {
		return "; did you mean " + best + "?"
	}
	return ""
}
