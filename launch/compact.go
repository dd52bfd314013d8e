package launch

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MaxCompact is how large a [Template.Compact] is at most, in bytes: it is kept with each claim.
const MaxCompact = 1024

// compactVersion is the meaning of a compact record. It changes when what goes into it does.
const compactVersion = "r1-"

// entryBytes is the length of an entry.
const entryBytes = 5

// entry is what is kept of a value: two bytes of a digest of its path; in the third, in two bits, what a difference takes; and 22
// bits of a digest of the path and the value. Another value is taken for the same once in four million times; the key, which is
// compared as well, tells that something differs.
type entry struct {
	path  uint16
	value uint32
}

// The numbers of FNV-1a with 64 bits.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// digest is FNV-1a, which is the same in every release, of texts with a zero after each.
func digest(texts ...string) uint64 {
	h := uint64(fnvOffset)
	for _, s := range texts {
		h = digestOf(h, s)
	}
	return h
}

// digestOf goes on with a digest. Package hash/fnv would take a copy of each text.
func digestOf[T string | []byte](h uint64, text T) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * fnvPrime
	}
	return h * fnvPrime // the zero
}

// mostNames is more than any path has.
const mostNames = 15

// Compact is what is kept with a running node: the key, and a short digest of each value that counts, of at most [MaxCompact]
// bytes. It tells which fields differ, and not what they were. Nothing of a secret is in it.
func (t *Template) Compact() string { return t.compact.get(t.makeCompact) }

// makeCompact makes the compact record.
func (t *Template) makeCompact() string {
	for names := mostNames; ; names-- { // where there is too much, values share an entry with their neighbours
		record := compact(t.Key(), t.entries(names), names)
		if len(record) <= MaxCompact || names == 1 {
			return record
		}
	}
}

// entries are the entries of the template's values, with so many names of a path. The usual ones are kept.
func (t *Template) entries(names int) map[uint16]*entryOf {
	entries := func() map[uint16]*entryOf { return byPath(counting(values(&t.Document)), names) }
	if names == mostNames {
		return t.allEntries.get(entries)
	}
	return entries()
}

// counting are the values whose difference is not ignored.
func counting(all map[string]string) map[string]string {
	maps.DeleteFunc(all, func(path, _ string) bool { return driftOf(path).class == Ignore })
	return all
}

// entryOf is the entry of a path, with its values.
type entryOf struct {
	entry
	// at is the path for people, and text the value, if there is one alone.
	at, text string
}

// byPath are the entries of values. Paths with the same digest share one: what differs is told all the same.
func byPath(all map[string]string, names int) map[uint16]*entryOf {
	found := make(map[uint16]*entryOf)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		at := upTo(path, names)
		short := uint16(digest(at))
		e := found[short]
		if e == nil {
			e = &entryOf{entry: entry{path: short}, at: at, text: all[path]}
			found[short] = e
		} else {
			e.text = ""
		}
		class := max(e.value>>22, uint32(slices.Index(classes, driftOf(path).class)))
		e.value = class<<22 | uint32(digest(path, all[path], string(binary.BigEndian.AppendUint32(nil, e.value&(1<<22-1)))))&(1<<22-1)
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

// compact is the text of a record: version and key, and in base64 how many names a path keeps, the entries, and a checksum.
func compact(key string, entries map[uint16]*entryOf, names int) string {
	data := []byte{byte(names)}
	for _, path := range slices.Sorted(maps.Keys(entries)) {
		data = binary.BigEndian.AppendUint16(data, path)
		v := entries[path].value
		data = append(data, byte(v>>16), byte(v>>8), byte(v))
	}
	sum := digestOf(digest(key), data)
	return compactVersion + key + "." + base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(data, uint32(sum)))
}

// Compact is a compact record that has been read.
type Compact struct {
	record string
	key    string
	names  int
	// entries are as the record has them: most nodes do not differ, and nobody looks at theirs.
	entries []byte
}

// ParseCompact reads what [Template.Compact] has written. The error of a record that is damaged, or of another version, wraps
// [ErrUnknown]: nobody replaces a node for it.
func ParseCompact(record string) (*Compact, error) {
	unknown := func(why string) error { return fmt.Errorf("%w: the compact record %s", ErrUnknown, why) }
	rest, ok := strings.CutPrefix(record, compactVersion)
	key, encoded, ok2 := strings.Cut(rest, ".")
	switch {
	case len(record) > MaxCompact:
		return nil, unknown("is too long")
	case !ok || !strings.HasPrefix(key, keyVersion):
		return nil, unknown("was made by another version")
	case !ok2:
		return nil, unknown("is damaged")
	}
	data, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	const sum = 4
	if err != nil || len(data) < 1+sum || (len(data)-1-sum)%entryBytes != 0 {
		return nil, unknown("is damaged")
	}
	data, want := data[:len(data)-sum], binary.BigEndian.Uint32(data[len(data)-sum:])
	if uint32(digestOf(digest(key), data)) != want || data[0] < 1 || data[0] > mostNames {
		return nil, unknown("is damaged")
	}
	return &Compact{record: record, key: key, names: int(data[0]), entries: data[1:]}, nil
}

// Key is the key of the node's template.
func (c *Compact) Key() string { return c.key }

// gone is the path of a field that a running node has and the wanted one has not: its name is not in a compact record.
const gone = "$"

// Diff lists the fields that differ from the wanted template, those that take most first. What they were is not known, nor
// the name of one that the wanted node does not have.
func (c *Compact) Diff(wanted *Template) []Change {
	if c.record == wanted.Compact() {
		return nil
	}
	entries := wanted.entries(c.names)
	seen := make(map[uint16]bool, len(c.entries)/entryBytes)
	var changes []Change
	for rest := range slices.Chunk(c.entries, entryBytes) {
		had := entry{binary.BigEndian.Uint16(rest), uint32(rest[2])<<16 | uint32(rest[3])<<8 | uint32(rest[4])}
		e := entries[had.path]
		seen[had.path] = true
		switch {
		case e == nil:
			class := classes[had.value>>22]
			changes = append(changes, Change{Path: gone, Class: class, Reason: "a field of the running node is not wanted any more"})
		case e.value != had.value:
			changes = append(changes, e.change())
		}
	}
	for path, e := range entries {
		if !seen[path] {
			changes = append(changes, e.change())
		}
	}
	if len(changes) == 0 {
		changes = append(changes, Change{Path: gone, Class: Refresh, Reason: "the key differs, and it is not known in what"})
	}
	sortChanges(changes)
	return changes
}

// change is a difference in an entry.
func (e *entryOf) change() Change {
	class := classes[e.value>>22]
	d := driftOf(e.at)
	if d.class != class { // of a value below the path
		d.reason = "a value below it differs"
	}
	return Change{Path: e.at, New: e.text, Class: class, Reason: d.reason}
}
