package volume

import (
	"encoding/binary"
	"math"
)

// entryLayout has the offsets of a file entry's fields, in bytes (ECMA-167 §4/14.9 and §4/14.17).
type entryLayout struct {
	// attributes and descriptors are the offsets of two lengths, and body the offset of their data: first the extended
	// attributes, then the allocation descriptors.
	attributes, descriptors, body int
}

var entryLayouts = map[uint16]entryLayout{
	tagFileEntry:         {attributes: 168, descriptors: 172, body: 176},
	tagExtendedFileEntry: {attributes: 208, descriptors: 212, body: 216},
}

// File types of an ICB tag (ECMA-167 §4/14.6.6).
const (
	udfUnspecified = 0
	udfDirectory   = 4
	udfRegular     = 5
)

// The kinds of a file's allocation descriptors (ECMA-167 §4/14.6.8, the lowest three bits of the flags).
const (
	shortDescriptors = 0
	longDescriptors  = 1
	embedded         = 3 // they are the file's content
)

// strategy is the only supported ICB strategy: the entry stands alone (ECMA-167 §4/A.5). The others are for write-once
// disks.
const strategy = 4

// file reads a file entry. An entry that is neither a file nor a directory is returned as errSpecial.
func (u *udf) file(s *session, a udfAddress) (file, error) {
	b, err := u.descriptor(s, a, tagFileEntry, tagExtendedFileEntry)
	if err != nil {
		return file{}, err
	}
	layout := entryLayouts[binary.LittleEndian.Uint16(b)]
	size := binary.LittleEndian.Uint64(b[56:])
	before := binary.LittleEndian.Uint32(b[layout.attributes:])
	length := binary.LittleEndian.Uint32(b[layout.descriptors:])
	room := uint32(len(b) - layout.body)
	switch kind := b[16+11]; {
	case kind != udfDirectory && kind != udfRegular && kind != udfUnspecified:
		return file{}, errSpecial
	case binary.LittleEndian.Uint16(b[16+4:]) != strategy:
		return file{}, corrupt("udf: file entry %d has a strategy that is not read", a.block)
	case size > math.MaxInt64 || before > room || length > room-before:
		return file{}, corrupt("udf: file entry %d is larger than its block", a.block)
	}
	f := file{directory: b[16+11] == udfDirectory, size: int64(size)}
	if !f.directory {
		if err := s.fits(f.size); err != nil {
			return file{}, err
		}
	}
	at, err := u.offset(a, u.block)
	if err != nil {
		return file{}, err
	}
	s.extents = s.extents[:0]
	body := b[layout.body+int(before):][:length]
	switch how := b[16+18] & 7; how {
	case shortDescriptors, longDescriptors:
		err = u.allocate(s, f.size, body, how == longDescriptors, a.partition)
	case embedded:
		err = s.addExtent(extent{at: at + int64(layout.body) + int64(before), size: int64(length)})
	default:
		err = corrupt("udf: file entry %d has allocation descriptors that are not read", a.block)
	}
	f.extents = s.extents
	return f, err
}

// Types of an extent (ECMA-167 §4/14.14.1.1, the highest two bits of its length).
const (
	extentRecorded  = 0
	extentContinued = 3 // the location of the next allocation descriptors
)

// allocate assembles the extents of size bytes of a file, from its allocation descriptors: short_ad, which refer to the
// file entry's partition, or long_ad (ECMA-167 §4/14.14).
func (u *udf) allocate(s *session, size int64, descriptors []byte, long bool, partition uint16) error {
	width, continuations := 8, 0
	if long {
		width = 16
	}
	for size > 0 && len(descriptors) >= width {
		b := descriptors[:width]
		descriptors = descriptors[width:]
		length := int64(binary.LittleEndian.Uint32(b) & (1<<30 - 1))
		a := udfAddress{block: binary.LittleEndian.Uint32(b[4:]), partition: partition}
		if long {
			a = longAddress(b)
		}
		e := extent{at: unrecorded, size: min(length, size)}
		var err error
		switch kind := b[3] >> 6; {
		case length == 0:
			return nil // it ends the descriptors; reading the file shows whether they are sufficient
		case kind == extentContinued:
			if continuations++; continuations > maxContinuations {
				return corrupt("udf: more than %d allocation extents", maxContinuations)
			}
			descriptors, err = u.allocationExtent(s, a)
			if err != nil {
				return err
			}
			continue
		case kind == extentRecorded:
			e.at, err = u.offset(a, e.size)
		}
		if err == nil {
			err = s.addExtent(e)
		}
		if err != nil {
			return err
		}
		size -= e.size
	}
	return nil
}

// allocationExtent views more allocation descriptors (ECMA-167 §4/14.5).
func (u *udf) allocationExtent(s *session, a udfAddress) ([]byte, error) {
	b, err := u.descriptor(s, a, tagAllocationExtent)
	if err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(b[20:]))
	if length > u.block-24 {
		return nil, corrupt("udf: an allocation extent of %d bytes", length)
	}
	return b[24:][:length], nil
}
