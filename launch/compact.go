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

// compactPrefix begins a compact record, and names what its bytes mean. Another meaning gets another one.
const compactPrefix = "r2-"

// nameBits is how much of a digest of a path is kept beside that of the map that it is in.
const nameBits = 14

// An entry has a digest of its path, and as many of the lowest bits of the digest of its values as there is room for.
const (
	entryBytes = 4
	// shortBytes is for a map of which every difference is a [Refresh]: that is also what is told where no entry differs and the key does.
	shortBytes = 3
)

// keyOf is what is kept of a path.
func keyOf(path string) uint32 {
	return uint32(shortOf(parentOf(path)))<<nameBits | uint32(digest(path))&(1<<nameBits-1)
}

// shortOf is what is kept of a path as a whole.
func shortOf(path string) uint16 { return uint16(digest(path)) }

// mostNames is more than any path has.
const mostNames = 15

// Compact is what is kept with a running node: the key, a short digest of each value that counts, and as far as there is room the names of
// what is in maps, and what people ask for most. It has at most [MaxCompact] bytes. Nothing of a secret is in it.
func (t *Template) Compact() string { return t.compact() }

// makeCompact makes the compact record.
func (t *Template) makeCompact() string {
	head := compactPrefix + t.Key() + "."
	room := base64.RawURLEncoding.DecodedLen(MaxCompact-len(head)) - sumBytes
	for names := mostNames; ; names-- { // where there is too much, values share an entry with their neighbours
		entries := t.entries(names)
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

func checksum(key string, data []byte) uint32 { return uint32(digest(key, string(data))) }

// entries are the entries of the template's values, with so many names of a path. The usual ones are kept.
func (t *Template) entries(names int) map[uint32]*entryOf {
	if names == mostNames {
		return t.allEntries()
	}
	return byPath(counting(&t.Document), names)
}

// appendRuns appends how many runs there are, and the runs: the digest of the map that all entries of one are in, how many there are with
// a bit for short ones, and the entries.
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
		count, bytes := uint64(len(run))<<1, entryBytes
		if !slices.ContainsFunc(run, func(key uint32) bool { return entries[key].class != Refresh }) {
			count, bytes = count|1, shortBytes
		}
		data = binary.BigEndian.AppendUint16(data, uint16(run[0]>>nameBits))
		data = binary.AppendUvarint(data, count)
		valueBits := 8*bytes - nameBits
		for _, key := range run {
			word := (key&(1<<nameBits-1))<<valueBits | entries[key].value&(1<<valueBits-1)
			for at := bytes - 1; at >= 0; at-- {
				data = append(data, byte(word>>(8*at)))
			}
		}
	}
	return data
}

// Compact is a compact record that has been read.
type Compact struct {
	record string
	key    string
	names  int
	// runs and notes are as the record has them: most nodes do not differ, and nobody looks at theirs.
	runs  []compactRun
	notes []byte
}

// compactRun are entries that follow each other, in a map, by a digest of its path.
type compactRun struct {
	parent     uint16
	entries    []byte
	entryBytes int
}

// ParseCompact reads what [Template.Compact] has written. The error of a record that is damaged, or of
// another version, wraps [ErrUnknown]: nobody replaces a node for it.
func ParseCompact(record string) (*Compact, error) {
	unknown := func(why string) error { return fmt.Errorf("%w: the compact record %s", ErrUnknown, why) }
	rest, known := strings.CutPrefix(record, compactPrefix)
	switch {
	case len(record) > MaxCompact:
		return nil, unknown("is too long")
	case !known || !strings.HasPrefix(rest, keyVersion):
		return nil, unknown("was made by another version")
	}
	key, encoded, ok := strings.Cut(rest, ".")
	data, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if !ok || err != nil || len(data) < 1+sumBytes {
		return nil, unknown("is damaged")
	}
	data, want := data[:len(data)-sumBytes], binary.BigEndian.Uint32(data[len(data)-sumBytes:])
	c := &Compact{record: record, key: key, names: int(data[0])}
	if checksum(key, data) != want || c.names < 1 || c.names > mostNames || !c.split(data[1:]) {
		return nil, unknown("is damaged")
	}
	return c, nil
}

// usualRuns is more than most records have.
const usualRuns = 12

// split takes the entries and the notes apart, and reports whether there are whole ones alone.
func (c *Compact) split(data []byte) bool {
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
		bytes := entryBytes
		if count&1 == 1 {
			bytes = shortBytes
		}
		if n <= 0 || count>>1 > uint64(len(data)-2-n)/uint64(bytes) {
			return false
		}
		at := 2 + n
		end := at + int(count>>1)*bytes
		c.runs = append(c.runs, compactRun{binary.BigEndian.Uint16(data), data[at:end], bytes})
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
	index int
	key   uint32
	// value is what is kept of the digest of values, and mask has its bits.
	value, mask uint32
	parent      uint16
}

// all calls visit with each entry.
func (c *Compact) all(visit func(kept)) {
	index := 0
	for _, run := range c.runs {
		for e := range slices.Chunk(run.entries, run.entryBytes) {
			bits, word := 8*run.entryBytes-nameBits, wordOf(e)
			mask := uint32(1)<<bits - 1
			visit(kept{index, uint32(run.parent)<<nameBits | word>>bits, word & mask, mask, run.parent})
			index++
		}
	}
}

// wordOf is a number of some bytes, the first of which counts most.
func wordOf(data []byte) (word uint32) {
	for _, b := range data {
		word = word<<8 | uint32(b)
	}
	return word
}

// Diff lists the fields that differ from the wanted template, those that take most first. What they were is told where the record has
// it. Of a field that the wanted node does not have the path may be that of the map it was in.
func (c *Compact) Diff(wanted *Template) []Change {
	if c.record == wanted.Compact() {
		return nil
	}
	entries := wanted.entries(c.names)
	seen := make(map[uint32]bool, len(entries))
	var changes []Change
	known := sync.OnceValue(func() map[uint32]string { return c.known(wanted) })
	c.all(func(had kept) {
		seen[had.key] = true
		switch e := entries[had.key]; {
		case e == nil:
			changes = append(changes, c.gone(had, known()))
		case e.value&had.mask != had.value:
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
		key := keyOf(path)
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
			if keyOf(path) == had.key {
				return path, true
			}
		}
	}
	if path := known[had.key]; path != ambiguous {
		return path, true
	}
	return parent, false
}
