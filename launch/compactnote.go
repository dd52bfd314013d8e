package launch

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// noteKind is what a note of a compact record says in clear of one of its entries.
type noteKind byte

const (
	// noteName is the name of an entry of a map, which nobody else may know later; of what is below an entry it is the end of the path.
	noteName noteKind = iota
	// noteValue is the value.
	noteValue
)

// mostNoted is how long a note is at most: what is longer would take the room of many others.
const mostNoted = 48

// asked are the values that people ask for first when a node has changed.
var asked = []string{
	"$.machine.image.version", "$.node.cluster.kubernetesVersion", "$.machine.image.family", "$.machine.disk.sizeGB", "$.node.kubelet.config.maxPods",
}

// note is one.
type note struct {
	index int
	kind  noteKind
	text  string
	// path, class and first are what decides which goes before which.
	path  string
	class Drift
	first int
}

// appendNotes appends notes of entries for as long as there is room: values that people ask for, then names that
// somebody has said, which may be gone later, then other values, those whose difference takes most first. A note is the index of its entry, its
// length with its kind, and its text.
func (t *Template) appendNotes(data []byte, room int, keys []uint32, entries map[uint32]*entryOf) []byte {
	said := make(map[string]bool)
	for _, path := range t.said(explicit) {
		said[path] = true
	}
	var notes []note
	for i, key := range keys {
		e := entries[key]
		if parent := parentOf(e.at); parent != "$" && said[e.at] {
			notes = append(notes, note{i, noteName, nameBelow(parent, e.at), e.at, e.class, len(asked)})
		}
		n := note{i, noteValue, e.text, e.at, e.class, len(asked) + 1}
		if at := slices.Index(asked, e.at); at >= 0 {
			n.first = at
		}
		notes = append(notes, n)
	}
	slices.SortFunc(notes, func(a, b note) int {
		return cmp.Or(a.first-b.first, b.class.takes()-a.class.takes(), strings.Compare(a.path, b.path))
	})
	for _, n := range notes {
		if n.index <= 0xff && isNote(n.text) && !strings.Contains(n.text, nodeconfig.Redacted) && len(data)+2+len(n.text) <= room {
			data = append(append(data, byte(n.index), byte(len(n.text))<<1|byte(n.kind)), n.text...)
		}
	}
	return data
}

// isNote reports whether a text may be a note: a short one that can be shown.
func isNote(text string) bool {
	return text != "" && len(text) <= mostNoted && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// nameBelow is the name for a note of a path below a map.
func nameBelow(parent, path string) string {
	if name, _, rest := document.Step(path[len(parent):]); rest == "" && document.FieldPath(parent, name) == path {
		return name
	}
	return path[len(parent):]
}

// nextNote takes the first note off.
func nextNote(data []byte) (index int, kind noteKind, text, rest []byte, ok bool) {
	if len(data) < 2 || len(data)-2 < int(data[1]>>1) {
		return 0, 0, nil, nil, false
	}
	end := 2 + int(data[1]>>1)
	return int(data[0]), noteKind(data[1] & 1), data[2:end], data[end:], true
}

// areNotes reports whether data has whole notes alone.
func areNotes(data []byte) bool {
	for ok := true; len(data) > 0; {
		if _, _, _, data, ok = nextNote(data); !ok {
			return false
		}
	}
	return true
}

// note is what a record notes of an entry; empty for nothing.
func (c *Compact) note(index int, kind noteKind) string {
	for data := c.notes; len(data) > 0; {
		i, k, text, rest, _ := nextNote(data)
		if i == index && k == kind && isNote(string(text)) {
			return string(text)
		}
		data = rest
	}
	return ""
}
