package volume

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// errNoTag is the error of a block without a descriptor.
var errNoTag = fmt.Errorf("%w: udf: no descriptor", ErrCorrupt)

// tagSize is the size of a descriptor tag, in bytes.
const tagSize = 16

// descriptor views the descriptor at an offset of the disk, in size bytes. It must have been written for that location,
// a block's number in the volume or the partition. If tags are given, it must have one of them.
func descriptor(s *session, at int64, size int, location uint32, tags ...uint16) ([]byte, error) {
	b, err := s.view(at, size)
	if err != nil {
		return nil, err
	}
	if err := checkTag(b); err != nil {
		return nil, err
	}
	if found := binary.LittleEndian.Uint32(b[12:]); found != location {
		return nil, corrupt("udf: the descriptor of block %d is in block %d", found, location)
	}
	if tag := binary.LittleEndian.Uint16(b); len(tags) > 0 && !slices.Contains(tags, tag) {
		return nil, corrupt("udf: a descriptor with tag %d in block %d, where %d should be", tag, location, tags)
	}
	return b, nil
}

// checkTag checks the tag of a descriptor, and with it the descriptor (ECMA-167 §3/7.2).
func checkTag(b []byte) error {
	if len(b) < tagSize {
		return corrupt("udf: %d bytes left for a descriptor", len(b))
	}
	var sum, all byte
	for n, c := range b[:tagSize] {
		all |= c
		if n != 4 {
			sum += c
		}
	}
	version := binary.LittleEndian.Uint16(b[2:])
	switch {
	case all == 0 || binary.LittleEndian.Uint16(b) == 0:
		return errNoTag
	case sum != b[4] || version != 2 && version != 3:
		// A block with any other content also looks like that.
		return fmt.Errorf("%w: or its tag is damaged", errNoTag)
	}
	// A checksum over more than the available bytes cannot be checked, and no system requires that.
	if length := int(binary.LittleEndian.Uint16(b[10:])); length <= len(b)-tagSize {
		if checksum(b[tagSize:][:length]) != binary.LittleEndian.Uint16(b[8:]) {
			return corrupt("udf: a descriptor with tag %d has a wrong checksum", binary.LittleEndian.Uint16(b))
		}
	}
	return nil
}

// remainders are the remainders of four bits, divided by the polynomial.
var remainders = [16]uint16{
	0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50A5, 0x60C6, 0x70E7,
	0x8108, 0x9129, 0xA14A, 0xB16B, 0xC18C, 0xD1AD, 0xE1CE, 0xF1EF,
}

// checksum is the CRC of x^16 + x^12 + x^5 + 1, from 0 (ECMA-167 §3/7.2.6).
func checksum(b []byte) (crc uint16) {
	for _, c := range b {
		crc = crc<<4 ^ remainders[crc>>12^uint16(c>>4)]
		crc = crc<<4 ^ remainders[crc>>12^uint16(c&15)]
	}
	return crc
}
