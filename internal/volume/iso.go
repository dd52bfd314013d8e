package volume

import (
	"encoding/binary"
	"slices"
)

// iso is an ISO 9660 file system (ECMA-119 has the same text).
//
// Numbers are recorded twice, little-endian first. Only that half is read: some programs write a wrong other half, and
// no system reads it.
type iso struct {
	// block is the size of a logical block, in bytes.
	block int64
	names isoNames
	// skip is the offset of the Rock Ridge attributes in a record's system use field.
	skip int
	// top is the root directory.
	top extent
}

// isoNames is the kind of names that are compared.
type isoNames int

const (
	plainNames isoNames = iota
	jolietNames
	rockRidgeNames
)

// Types of volume descriptors (ECMA-119 §8.1.1).
const (
	primaryDescriptor       = 1
	supplementaryDescriptor = 2
	descriptorSetTerminator = 255
)

// jolietEscapes are the escape sequences of a supplementary descriptor with UCS-2 names, levels 1 to 3 (Joliet
// specification, "Escape Sequences").
var jolietEscapes = []string{"%/@", "%/C", "%/E"}

// openISO finds the best tree in the volume descriptor set.
func openISO(s *session) (filesystem, string, error) {
	var (
		primary, joliet iso
		label           string
	)
	for n := range int64(maxDescriptors) {
		descriptor, err := s.view((systemArea+n)*sectorSize, sectorSize)
		if err != nil {
			return nil, "", err
		}
		if string(descriptor[1:6]) != "CD001" || descriptor[0] == descriptorSetTerminator {
			break
		}
		switch {
		case descriptor[0] == primaryDescriptor && primary.block == 0:
			label = labelText(descriptor[40:72])
			primary, err = isoTree(descriptor, plainNames)
		case descriptor[0] == supplementaryDescriptor && slices.Contains(jolietEscapes, string(descriptor[88:91])):
			joliet, err = isoTree(descriptor, jolietNames)
		}
		if err != nil {
			return nil, "", err
		}
	}
	if primary.block == 0 {
		return nil, "", corrupt("iso9660: no primary volume descriptor")
	}
	ridge, err := primary.detectRockRidge(s)
	if err != nil {
		return nil, "", err
	}
	if !ridge && joliet.block != 0 {
		return &joliet, label, nil
	}
	return &primary, label, nil
}

// isoTree is the tree of a volume descriptor (ECMA-119 §8.4).
func isoTree(descriptor []byte, names isoNames) (iso, error) {
	block := int64(binary.LittleEndian.Uint16(descriptor[128:]))
	if block < 512 || block > sectorSize || block&(block-1) != 0 {
		return iso{}, corrupt("iso9660: a logical block of %d bytes", block)
	}
	root, _, err := isoRecord(descriptor[156:190], 0)
	if err != nil {
		return iso{}, err
	}
	if len(root.name) == 0 {
		return iso{}, corrupt("iso9660: a volume descriptor has no root directory")
	}
	tree := iso{block: block, names: names}
	tree.top = tree.section(root)
	return tree, nil
}

func (i *iso) root(s *session) (file, error) {
	s.extents = append(s.extents[:0], i.top)
	return file{directory: true, size: i.top.size, extents: s.extents}, nil
}

// Flags of a directory record (ECMA-119 §9.1.6).
const (
	isoDirectory  = 1 << 1
	isoAssociated = 1 << 2
	isoContinued  = 1 << 7 // another record has the file's next section
)

// record is a directory record (ECMA-119 §9.1).
type record struct {
	block, size uint32
	// attributes is the length of the extended attribute record, in blocks, which precedes the file.
	attributes  byte
	flags       byte
	interleaved bool
	name        []byte
	systemUse   []byte
}

// minRecord is the size of a record with a one-byte name.
const minRecord = 34

// isoRecord reads the record at an offset of a directory's content, and returns the next one's offset. At the end of
// the content it returns a record without a name.
func isoRecord(content []byte, at int) (r record, next int, err error) {
	// If the next record does not fit in a sector, the rest of the sector is zero (ECMA-119 §6.8.1.1).
	for at < len(content) && content[at] == 0 {
		at = (at/sectorSize + 1) * sectorSize
	}
	if at >= len(content) {
		return record{}, len(content), nil
	}
	b := content[at:]
	length := int(b[0])
	if length > len(b) {
		return record{}, 0, errEndsEarly
	}
	if length < minRecord {
		return record{}, 0, corrupt("iso9660: a directory record of %d bytes", length)
	}
	b = b[:length]
	end := 33 + int(b[32])
	if end == 33 || end > length {
		return record{}, 0, corrupt("iso9660: a name of %d bytes in a record of %d", b[32], length)
	}
	return record{
		block: binary.LittleEndian.Uint32(b[2:]), size: binary.LittleEndian.Uint32(b[10:]),
		attributes: b[1], flags: b[25], interleaved: b[26] != 0 || b[27] != 0,
		name: b[33:end],
		// A name of even length is followed by a byte of padding.
		systemUse: b[min(end+1-int(b[32])%2, length):],
	}, at + length, nil
}

// section is the record's piece of a file.
func (i *iso) section(r record) extent {
	return extent{at: (int64(r.block) + int64(r.attributes)) * i.block, size: int64(r.size)}
}

func (i *iso) find(s *session, content []byte, name string) (file, error) {
	similar := -1
	for at, entries := 0, 0; ; entries++ {
		r, next, err := isoRecord(content, at)
		if err != nil {
			return file{}, err
		}
		if len(r.name) == 0 {
			break
		}
		if entries == maxEntries {
			return file{}, errDirectoryTooLarge
		}
		how, err := i.match(s, r, name)
		if err != nil {
			return file{}, err
		}
		switch {
		case how == exact:
			return i.file(s, content, at)
		case how == folded && similar < 0:
			similar = at
		}
		at = next
	}
	if similar < 0 {
		return file{}, errNoEntry
	}
	return i.file(s, content, similar)
}

// file assembles the sections of the file whose first record is at an offset of the content.
func (i *iso) file(s *session, content []byte, at int) (file, error) {
	s.extents = s.extents[:0]
	f := file{}
	var name []byte
	for {
		r, next, err := isoRecord(content, at)
		switch {
		case err != nil:
			return file{}, err
		case name != nil && string(r.name) != string(name):
			return file{}, corrupt("iso9660: a file's next section is missing")
		case r.interleaved:
			return file{}, corrupt("iso9660: an interleaved file")
		}
		name = r.name
		f.directory = r.flags&isoDirectory != 0
		section := i.section(r)
		f.size += section.size
		if err := s.addExtent(section); err != nil {
			return file{}, err
		}
		if r.flags&isoContinued == 0 {
			break
		}
		at = next
	}
	f.extents = s.extents
	if f.directory {
		return f, nil
	}
	return f, s.fits(f.size)
}
