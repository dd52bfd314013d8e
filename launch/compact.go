package launch

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/document"
)

// MaxCompact is how large a [Template.Compact] is at most, in bytes: it is kept with each claim.
const MaxCompact = 1024

// compactFormat is what a version of compact records means. A new one is for another meaning; the former ones stay, as nodes keep them.
type compactFormat struct {
	prefix string
	// key is what is kept of a path.
	key func(path string) uint32
	// entryBytes is the length of an entry. It has a digest of its path, and the lowest valueBits bits of an entry's digest of values.
	entryBytes, valueBits int
	// runs says that the entries of each map follow each other, and that notes follow all of them.
	runs bool
}

// nameBits is how much of a digest of a path is kept beside that of the map that it is in.
const nameBits = 14

// formats are the versions, the one that is written first.
var formats = [...]compactFormat{
	{prefix: "r2-", entryBytes: 4, valueBits: 32 - nameBits, runs: true, key: func(path string) uint32 {
		return uint32(shortOf(parentOf(path)))<<nameBits | uint32(digest(path))&(1<<nameBits-1)
	}},
	// The third byte of an entry begins with two bits for what a difference takes.
	{prefix: "r1-", entryBytes: 5, valueBits: valueBits, key: func(path string) uint32 { return uint32(shortOf(path)) }},
}

// shortOf is what is kept of a path as a whole.
func shortOf(path string) uint16 { return uint16(digest(path)) }

// mostNames is more than any path has.
const mostNames = 15

// Compact is what is kept with a running node: the key, a short digest of each value that counts, and as far as there is room the names of
// what is in maps, and what people ask for most. It has at most [MaxCompact] bytes. Nothing of a secret is in it.
func (t *Template) Compact() string { return t.compact.get(t.makeCompact) }

// makeCompact makes the compact record.
func (t *Template) makeCompact() string {
	head := formats[0].prefix + t.Key() + "."
	room := base64.RawURLEncoding.DecodedLen(MaxCompact-len(head)) - sumBytes
	for names := mostNames; ; names-- { // where there is too much, values share an entry with their neighbours
		entries := t.entries(0, names)
		keys := slices.Sorted(maps.Keys(entries))
		data := appendRuns([]byte{byte(names)}, keys, entries)
		if len(data) > room && names > 1 {
			continue
		}
		data = t.appendNotes(data, room, keys, entries)
		return head + base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(data, checksum(t.Key(), data)))
	}
}

// sumBytes is the length of the checksum of a record's key and data.
const sumBytes = 4

func checksum(key string, data []byte) uint32 { return uint32(digestOf(digest(key), data)) }

// entries are the entries of the template's values for a format, with so many names of a path. The usual ones are kept.
func (t *Template) entries(format, names int) map[uint32]*entryOf {
	entries := func() map[uint32]*entryOf { return byPath(counting(&t.Document), names, formats[format].key) }
	if names == mostNames {
		return t.allEntries[format].get(entries)
	}
	return entries()
}

// appendRuns appends how many runs there are, and the runs: the digest of the map that all entries of one are in, how many there are, and
// the entries.
func appendRuns(data []byte, keys []uint32, entries map[uint32]*entryOf) []byte {
	var runs [][]uint32
	for i, key := range keys {
		if i == 0 || key>>nameBits != keys[i-1]>>nameBits {
			runs = append(runs, nil)
		}
		last := &runs[len(runs)-1]
		*last = append(*last, key)
	}
	data = binary.AppendUvarint(data, uint64(len(runs)))
	for _, run := range runs {
		data = binary.BigEndian.AppendUint16(data, uint16(run[0]>>nameBits))
		data = binary.AppendUvarint(data, uint64(len(run)))
		for _, key := range run {
			data = binary.BigEndian.AppendUint32(data, key<<(32-nameBits)|entries[key].value&(1<<(32-nameBits)-1))
		}
	}
	return data
}

// Compact is a compact record that has been read.
type Compact struct {
	record string
	key    string
	format int // of formats
	names  int
	// runs and notes are as the record has them: most nodes do not differ, and nobody looks at theirs.
	runs  []compactRun
	notes []byte
}

// compactRun are entries that follow each other: in a map, by a digest of its path, or all where that is not kept.
type compactRun struct {
	parent  uint16
	entries []byte
}

// ParseCompact reads what [Template.Compact] has written, of this version and of former ones. The error of a record that is damaged, or of
// another version, wraps [ErrUnknown]: nobody replaces a node for it.
func ParseCompact(record string) (*Compact, error) {
	unknown := func(why string) error { return fmt.Errorf("%w: the compact record %s", ErrUnknown, why) }
	format := slices.IndexFunc(formats[:], func(f compactFormat) bool { return strings.HasPrefix(record, f.prefix) })
	switch {
	case len(record) > MaxCompact:
		return nil, unknown("is too long")
	case format < 0 || !strings.HasPrefix(record[len(formats[format].prefix):], keyVersion):
		return nil, unknown("was made by another version")
	}
	key, encoded, ok := strings.Cut(record[len(formats[format].prefix):], ".")
	data, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if !ok || err != nil || len(data) < 1+sumBytes {
		return nil, unknown("is damaged")
	}
	data, want := data[:len(data)-sumBytes], binary.BigEndian.Uint32(data[len(data)-sumBytes:])
	c := &Compact{record: record, key: key, format: format, names: int(data[0])}
	if checksum(key, data) != want || c.names < 1 || c.names > mostNames || !c.split(data[1:]) {
		return nil, unknown("is damaged")
	}
	return c, nil
}

// usualRuns is more than most records have.
const usualRuns = 12

// split takes the entries and the notes apart, and reports whether there are whole ones alone.
func (c *Compact) split(data []byte) bool {
	f := &formats[c.format]
	if !f.runs {
		c.runs = []compactRun{{entries: data}}
		return len(data)%f.entryBytes == 0
	}
	runs, n := binary.Uvarint(data)
	if n <= 0 || runs > uint64(len(data)) {
		return false
	}
	data = data[n:]
	c.runs = make([]compactRun, 0, min(runs, usualRuns))
	for range runs {
		if len(data) < 2 {
			return false
		}
		count, n := binary.Uvarint(data[2:])
		if n <= 0 || count > uint64(len(data)-2-n)/uint64(f.entryBytes) {
			return false
		}
		at := 2 + n
		end := at + int(count)*f.entryBytes
		c.runs = append(c.runs, compactRun{binary.BigEndian.Uint16(data), data[at:end]})
		data = data[end:]
	}
	c.notes = data
	return areNotes(data)
}

// Key is the key of the node's template.
func (c *Compact) Key() string { return c.key }

// kept is an entry of a record.
type kept struct {
	// index is its place in the record.
	index      int
	key, value uint32
	parent     uint16
	// class is what a difference takes, where the record says so.
	class Drift
}

// all calls visit with each entry.
func (c *Compact) all(visit func(kept)) {
	f, index := &formats[c.format], 0
	for _, run := range c.runs {
		for e := range slices.Chunk(run.entries, f.entryBytes) {
			k := kept{index: index, parent: run.parent}
			if f.runs {
				word := binary.BigEndian.Uint32(e)
				k.key, k.value = uint32(run.parent)<<nameBits|word>>f.valueBits, word&(1<<f.valueBits-1)
			} else {
				word := uint32(e[2])<<16 | uint32(e[3])<<8 | uint32(e[4])
				k.key, k.value, k.class = uint32(binary.BigEndian.Uint16(e)), word&(1<<f.valueBits-1), classes[word>>f.valueBits]
			}
			visit(k)
			index++
		}
	}
}

// Diff lists the fields that differ from the wanted template, those that take most first. What they were is told where the record has
// it. Of a field that the wanted node does not have the path may be that of the map it was in.
func (c *Compact) Diff(wanted *Template) []Change {
	if c.record == wanted.Compact() {
		return nil
	}
	entries, mask := wanted.entries(c.format, c.names), uint32(1)<<formats[c.format].valueBits-1
	seen := make(map[uint32]bool, len(entries))
	var changes []Change
	known := sync.OnceValue(func() map[uint32]string { return c.known(wanted) })
	c.all(func(had kept) {
		seen[had.key] = true
		switch e := entries[had.key]; {
		case e == nil:
			changes = append(changes, c.gone(had, known()))
		case e.value&mask != had.value:
			changes = append(changes, e.change(c.note(had.index, noteValue)))
		}
	})
	for key, e := range entries {
		if !seen[key] {
			changes = append(changes, e.change(""))
		}
	}
	if len(changes) == 0 && c.key != wanted.Key() {
		changes = append(changes, Change{Path: "$", Class: Refresh, Reason: "the key differs, and it is not known in what"})
	}
	sortChanges(changes)
	return changes
}

// ambiguous stands for several paths.
const ambiguous = ""

// known are the paths that are known of a template, by what is kept of them.
func (c *Compact) known(t *Template) map[uint32]string {
	paths := make(map[uint32]string)
	for _, path := range t.familiar() {
		path = upTo(path, c.names)
		key := formats[c.format].key(path)
		if other, has := paths[key]; has && other != path {
			path = ambiguous
		}
		paths[key] = path
	}
	return paths
}

// gone is the difference of a field that the running node has, and the wanted one has not.
func (c *Compact) gone(had kept, known map[uint32]string) Change {
	path, exact := c.pathOf(had, known)
	d := driftOf(path)
	if d.path == "" { // of a version with other fields
		d.class = Refresh
	}
	if had.class != "" {
		d.class = had.class
	}
	if !exact {
		d.reason = "a field below it is not wanted any more"
	}
	return Change{Path: path, Old: c.note(had.index, noteValue), Class: d.class, Reason: d.reason}
}

// pathOf is the path of an entry, and whether it is that and not the one of the map that it is in.
func (c *Compact) pathOf(had kept, known map[uint32]string) (string, bool) {
	parent := "$"
	for _, m := range schema().maps {
		if shortOf(m) == had.parent {
			parent = m
		}
	}
	if name := c.note(had.index, noteName); name != "" {
		for _, path := range []string{document.FieldPath(parent, name), parent + name} {
			if formats[c.format].key(path) == had.key {
				return path, true
			}
		}
	}
	if path := known[had.key]; path != ambiguous {
		return path, true
	}
	return parent, false
}
