package launch

import (
	"encoding/binary"
	"hash/fnv"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// leaf is a value whose difference is not ignored.
type leaf struct {
	path string
	v    reflect.Value
}

// counting are those of a document, by their paths.
func counting(d *Document) []leaf {
	all := make([]leaf, 0, usualValues)
	walk(d, func(at []byte, v reflect.Value) {
		if path := string(at); driftOf(path).class != Ignore {
			all = append(all, leaf{path, v})
		}
	})
	slices.SortFunc(all, func(a, b leaf) int { return strings.Compare(a.path, b.path) })
	return all
}

// entryOf is what counts of a path, and what is kept of it with a running node: a digest of the path, and one of its values.
type entryOf struct {
	// value is valueBits bits of a digest of paths and values.
	value uint32
	class Drift
	// at is the path for people, and text the value, if there is one alone.
	at, text string
}

// valueBits is how much of a digest of values is kept at most. Another value is taken for the same once in so many times; the key, which
// is compared as well, shows that something differs.
const valueBits = 22

// byPath are the entries of values, by [keyOf]. Paths with the same key share one: what differs is told all the same.
func byPath(all []leaf, names int) map[uint32]*entryOf {
	found := make(map[uint32]*entryOf, len(all))
	for _, l := range all {
		at := upTo(l.path, names)
		short := keyOf(at)
		e := found[short]
		if e == nil {
			e = &entryOf{at: at, text: text(l.v), class: Ignore}
			found[short] = e
		} else {
			e.text = ""
		}
		if class := driftOf(l.path).class; class.takes() > e.class.takes() {
			e.class = class
		}
		e.value = uint32(digest(l.path, plain(l.v), string(binary.BigEndian.AppendUint32(nil, e.value)))) & (1<<valueBits - 1)
	}
	return found
}

// upTo is a path with so many names at most. A name in quotes stays whole.
func upTo(path string, names int) string {
	quoted := false
	for i := 1; i < len(path); i++ {
		switch c := path[i]; {
		case c == '"' && path[i-1] != '\\':
			quoted = !quoted
		case !quoted && (c == '.' || c == '['):
			if names == 0 {
				return path[:i]
			}
			names--
		}
	}
	return path
}

// digest is FNV-1a, which is the same in every release, of texts with a zero after each.
func digest(texts ...string) uint64 {
	h := fnv.New64a()
	for _, s := range texts {
		_, _ = io.WriteString(h, s+"\x00")
	}
	return h.Sum64()
}

// change is a difference in an entry.
func (e *entryOf) change(old string) Change {
	d := driftOf(e.at)
	if d.class != e.class { // of a value below the path
		d.reason = "a value below it differs"
	}
	return Change{Path: e.at, Old: old, New: e.text, Class: e.class, Reason: d.reason}
}

// parentOf is the map that a path is an entry of, and "$" for a path that follows from the types.
func parentOf(path string) string {
	for _, m := range schema().maps {
		if path != m && document.Within(path, m) {
			return m
		}
	}
	return "$"
}
