package redact

import (
	"bytes"
	"encoding/binary"
)

// matcher finds several texts in one pass. It looks at each position of the data at the hash of the next bytes: a small bitmap
// excludes nearly all positions, and only the others are compared. docs/dependencies.md has the measured reason for own code.
type matcher struct {
	// mask selects the bytes of the hash, and fold makes letters lower case.
	mask, fold uint64
	marked     [1 << hashBits / 64]uint64
	// texts are the searched texts by hash, the longest first.
	texts map[uint32][]searched
}

type searched struct {
	text string
	id   int
}

const (
	hashBits = 16
	// wordSize is the length of the shortest searched text of all; the hash takes 8 bytes at most.
	wordSize = 8
)

// newMatcher returns a matcher whose texts have at least size bytes, or differ from the data in letters' case only.
func newMatcher(size int, folded bool) *matcher {
	m := &matcher{mask: 1<<(8*min(size, wordSize-1)) - 1, texts: make(map[uint32][]searched)}
	if folded {
		m.fold = 0x2020202020202020 & m.mask
	}
	return m
}

// hash is the hash of the first bytes of a word of data.
func (m *matcher) hash(word uint64) uint32 {
	return uint32((word|m.fold)&m.mask*0x9E3779B97F4A7C15>>(64-hashBits)) & (1<<hashBits - 1)
}

// add adds a text to search for, with an id. A text with several ids is found for each, the first one first.
func (m *matcher) add(text string, id int) {
	var word [wordSize]byte
	copy(word[:], text)
	hash := m.hash(binary.LittleEndian.Uint64(word[:]))
	list := m.texts[hash]
	at := len(list)
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == (searched{text, id}) {
			return
		}
		if len(list[i].text) < len(text) {
			at = i
		}
	}
	list = append(list, searched{})
	copy(list[at+1:], list[at:])
	list[at] = searched{text, id}
	m.texts[hash] = list
	m.marked[hash/64] |= 1 << (hash % 64)
}

// find calls found for each text that is in the data, by position, and at one position the longest first. found returns how
// many bytes to go on: 0 means to try shorter texts at this position.
func (m *matcher) find(data []byte, found func(at, size, id int) (skip int)) {
	var end [wordSize]byte
	for i := 0; i < len(data); i++ {
		var word uint64
		if i+wordSize <= len(data) {
			word = binary.LittleEndian.Uint64(data[i:])
		} else {
			end = [wordSize]byte{}
			copy(end[:], data[i:])
			word = binary.LittleEndian.Uint64(end[:])
		}
		if hash := m.hash(word); m.marked[hash/64]>>(hash%64)&1 != 0 {
			i += m.compare(hash, data, i, found)
		}
	}
}

// compare compares the texts of a hash with the data at a position, and returns how many bytes more to go on.
func (m *matcher) compare(hash uint32, data []byte, at int, found func(at, size, id int) int) int {
	for _, s := range m.texts[hash] {
		if len(s.text) > len(data)-at {
			continue
		}
		have := data[at : at+len(s.text)]
		if string(have) != s.text && (m.fold == 0 || !bytes.EqualFold(have, []byte(s.text))) {
			continue
		}
		if skip := found(at, len(s.text), s.id); skip > 0 {
			return skip - 1
		}
	}
	return 0
}
