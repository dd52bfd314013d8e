package volume

import (
	"bytes"
	"encoding/binary"
)

// slotSize is the size of a directory entry, in bytes. A long name takes several.
const slotSize = 32

// The first bytes of a name (the specification, "DIR_Name[0]").
const (
	slotEnd     = 0x00 // nothing follows
	slotDeleted = 0xE5
	slotKanji   = 0x05 // stands for 0xE5
)

// Attributes of a directory entry (the specification, "FAT Directory Structure").
const (
	attributeLabel     = 0x08
	attributeDirectory = 0x10
	attributeLong      = 0x0F // under the mask of all six
	attributeMask      = 0x3F
)

// Long names (the specification, "FAT Long Directory Entries").
const (
	longLast  = 0x40 // marks the slot with the end of the name, which comes first
	longSlots = 20
	longChars = 13
)

// longName is a long name that is assembled from its slots.
type longName struct {
	// units are UTF-16, little-endian; length is their number, in slots.
	units  [longSlots * longChars * 2]byte
	length int
	// missing is the number of slots still to come, and sum the checksum of the short name that must follow.
	missing int
	sum     byte
}

// longPieces are the offsets and lengths of the name's pieces in a slot, in bytes.
var longPieces = [...]struct{ at, size int }{{1, 10}, {14, 12}, {28, 4}}

// add adds a slot. A slot that is not the next one ends the name: systems without support for long names leave slots
// behind.
func (l *longName) add(slot []byte) {
	number := int(slot[0] &^ longLast)
	switch {
	case slot[0]&longLast != 0 && number >= 1 && number <= longSlots:
		l.length, l.missing, l.sum = number, number, slot[13]
	case l.missing == 0 || number != l.missing || slot[13] != l.sum:
		l.length, l.missing = 0, 0
		return
	}
	l.missing--
	piece := l.units[l.missing*longChars*2:]
	for _, p := range longPieces {
		piece = piece[copy(piece, slot[p.at:][:p.size]):]
	}
}

// take returns the name, in UTF-8, if it is complete and belongs to the short one, and resets it.
func (l *longName) take(dst, short []byte) (name []byte, ok bool) {
	length, missing := l.length, l.missing
	l.length, l.missing = 0, 0
	if length == 0 || missing != 0 || l.sum != shortSum(short) {
		return dst, false
	}
	units := l.units[:length*longChars*2]
	for n := 0; n < len(units); n += 2 {
		// A name that does not fill its slots ends with a zero.
		if units[n] == 0 && units[n+1] == 0 {
			units = units[:n]
			break
		}
	}
	return appendUTF16(dst, units, binary.LittleEndian), true
}

// shortSum is the checksum of a short name (the specification, "Checksum").
func shortSum(short []byte) (sum byte) {
	for _, c := range short[:11] {
		sum = sum>>1 | sum<<7
		sum += c
	}
	return sum
}

// appendShort appends a short name: eight bytes and three, padded with spaces. Letters that are not ASCII use a code
// page that the disk does not name, and stay unchanged.
func appendShort(dst, short []byte) []byte {
	start := len(dst)
	dst = append(dst, bytes.TrimRight(short[:8], " ")...)
	if len(dst) > start && dst[start] == slotKanji {
		dst[start] = slotDeleted
	}
	if extension := bytes.TrimRight(short[8:11], " "); len(extension) > 0 {
		dst = append(append(dst, '.'), extension...)
	}
	return dst
}

func (f *fat) find(s *session, content []byte, name string) (file, error) {
	var (
		long    longName
		similar []byte
		entries int
	)
	for ; len(content) >= slotSize && content[0] != slotEnd; content = content[slotSize:] {
		slot := content[:slotSize]
		switch {
		case slot[0] == slotDeleted:
			long.length = 0
			continue
		case slot[11]&attributeMask == attributeLong:
			long.add(slot)
			continue
		}
		if entries++; entries > maxEntries {
			return file{}, errDirectoryTooLarge
		}
		found, ok := long.take(s.name[:0], slot)
		if slot[11]&attributeLabel != 0 {
			continue
		}
		if !ok {
			found = appendShort(s.name[:0], slot)
		}
		switch matchFolding(found, name) {
		case exact:
			return f.entry(s, slot)
		case folded:
			if similar == nil {
				similar = slot
			}
		}
	}
	if similar == nil {
		return file{}, errNoEntry
	}
	return f.entry(s, similar)
}

// entry opens the file of a directory entry.
func (f *fat) entry(s *session, slot []byte) (file, error) {
	cluster := uint32(binary.LittleEndian.Uint16(slot[26:]))
	if f.width == 32 {
		cluster |= uint32(binary.LittleEndian.Uint16(slot[20:])) << 16
	}
	size := int64(binary.LittleEndian.Uint32(slot[28:]))
	return f.open(s, slot[11]&attributeDirectory != 0, cluster, size)
}

// rootLabel is the root directory's label, which other programs show and change.
func (f *fat) rootLabel(s *session) (string, error) {
	root, err := f.root(s)
	if err != nil {
		return "", err
	}
	content, err := s.directory(root)
	if err != nil {
		return "", err
	}
	for ; len(content) >= slotSize && content[0] != slotEnd; content = content[slotSize:] {
		long := content[11]&attributeMask == attributeLong
		if content[0] != slotDeleted && !long && content[11]&attributeLabel != 0 {
			return labelText(content[:11]), nil
		}
	}
	return "", nil
}
