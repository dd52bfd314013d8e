package volume

import (
	"encoding/binary"
	"errors"
)

// udf is an UDF file system (ECMA-167 3rd edition; OSTA UDF 1.02 to 2.01).
type udf struct {
	// block is the size of a logical block, which in UDF equals that of a sector, in bytes.
	block int64
	// partitions are indexed by partition reference number.
	partitions []udfPartition
	top        udfAddress
}

// udfPartition is a partition's location on the disk, in bytes.
type udfPartition struct{ at, size int64 }

// udfAddress is a logical block of a partition (lb_addr, ECMA-167 §4/7.1).
type udfAddress struct {
	block     uint32
	partition uint16
}

// udfBlocks are the block sizes, in bytes, in the order of trying. Optical disks have 2,048; mkudffs uses a hard disk's
// sector size.
var udfBlocks = []int64{2048, 512, 4096, 1024}

// Tag identifiers (ECMA-167 §3/7.2.1 and §4/7.2.1).
const (
	tagAnchor            = 2
	tagPartition         = 5
	tagLogicalVolume     = 6
	tagTerminator        = 8
	tagFileSet           = 256
	tagFileIdentifier    = 257
	tagAllocationExtent  = 258
	tagFileEntry         = 261
	tagExtendedFileEntry = 266
)

// openUDF goes from an anchor through the volume descriptor sequence to the file set.
func openUDF(s *session) (filesystem, string, error) {
	var failed error
	for _, block := range udfBlocks {
		blocks := s.size / block
		// The possible blocks of an anchor, of which two exist (ECMA-167 §3/8.4.2.1).
		for _, at := range []int64{256, blocks - 1, blocks - 257} {
			if at < 0 || at >= blocks {
				continue
			}
			system, label, err := openAnchor(s, block, at)
			if err == nil {
				return system, label, nil
			}
			if failed == nil && !errors.Is(err, errNoTag) {
				failed = err
			}
		}
	}
	if failed == nil {
		failed = corrupt("udf: no anchor volume descriptor pointer")
	}
	return nil, "", failed
}

// openAnchor goes from the anchor volume descriptor pointer (ECMA-167 §3/10.2) in a block to a usable sequence: the
// main one, else the reserve.
func openAnchor(s *session, block, at int64) (filesystem, string, error) {
	anchor, err := descriptor(s, at*block, int(block), uint32(at), tagAnchor)
	if err != nil {
		return nil, "", err
	}
	var failed error
	for _, e := range [...]extent{anchorExtent(anchor[16:24], block), anchorExtent(anchor[24:32], block)} {
		system, label, err := openSequence(s, block, e)
		if err == nil {
			return system, label, nil
		}
		if failed == nil {
			failed = err
		}
	}
	return nil, "", failed
}

// anchorExtent is an extent_ad (ECMA-167 §3/7.1).
func anchorExtent(b []byte, block int64) extent {
	return extent{
		at:   int64(binary.LittleEndian.Uint32(b[4:])) * block,
		size: int64(binary.LittleEndian.Uint32(b)),
	}
}

// udfSequence is the content of a volume descriptor sequence.
type udfSequence struct {
	// partitions are from the partition descriptors, with their numbers.
	partitions []numberedPartition
	// maps are the partition numbers of the logical volume's type 1 maps, or otherMap.
	maps []int
	// fileSet is the address of the file set descriptor.
	fileSet udfAddress
	label   string
	// logical is the volume descriptor sequence number of the logical volume's descriptor, if there is one.
	logical uint32
	known   bool
}

type numberedPartition struct {
	number   int
	sequence uint32
	udfPartition
}

// otherMap is a partition that is not simply a part of the disk.
const otherMap = -1

// openSequence reads a volume descriptor sequence (ECMA-167 §3/8.4.2) and its file set. It does not follow a volume
// descriptor pointer, which continues in another extent: a sequence of UDF is at least 16 blocks long for six
// descriptors.
func openSequence(s *session, block int64, e extent) (filesystem, string, error) {
	var sequence udfSequence
	for n := range min(e.size/block, maxDescriptors) {
		at := e.at + n*block
		b, err := descriptor(s, at, int(block), uint32(at/block))
		if errors.Is(err, errNoTag) {
			break // unrecorded blocks also end a sequence
		}
		if err != nil {
			return nil, "", err
		}
		switch binary.LittleEndian.Uint16(b) {
		case tagPartition:
			err = sequence.addPartition(b, block)
		case tagLogicalVolume:
			err = sequence.setLogicalVolume(b, block)
		}
		if err != nil {
			return nil, "", err
		}
		if binary.LittleEndian.Uint16(b) == tagTerminator {
			break
		}
	}
	if !sequence.known {
		return nil, "", corrupt("udf: no logical volume descriptor")
	}
	u := &udf{block: block, partitions: sequence.resolve()}
	if err := u.openFileSet(s, sequence.fileSet); err != nil {
		return nil, "", err
	}
	return u, sequence.label, nil
}

// addPartition reads a partition descriptor (ECMA-167 §3/10.5). Of several with one number the last written prevails
// (§3/8.4.3).
func (q *udfSequence) addPartition(b []byte, block int64) error {
	p := numberedPartition{
		number: int(binary.LittleEndian.Uint16(b[22:])), sequence: binary.LittleEndian.Uint32(b[16:]),
		udfPartition: udfPartition{
			at:   int64(binary.LittleEndian.Uint32(b[188:])) * block,
			size: int64(binary.LittleEndian.Uint32(b[192:])) * block,
		},
	}
	for n := range q.partitions {
		if old := &q.partitions[n]; old.number == p.number {
			if p.sequence >= old.sequence {
				*old = p
			}
			return nil
		}
	}
	if len(q.partitions) == maxPartitions {
		return corrupt("udf: more than %d partition descriptors", maxPartitions)
	}
	q.partitions = append(q.partitions, p)
	return nil
}

// setLogicalVolume reads a logical volume descriptor (ECMA-167 §3/10.6), with its partition maps (§3/10.7).
func (q *udfSequence) setLogicalVolume(b []byte, block int64) error {
	number := binary.LittleEndian.Uint32(b[16:])
	if q.known && number < q.logical {
		return nil
	}
	if size := binary.LittleEndian.Uint32(b[212:]); int64(size) != block {
		return corrupt("udf: a logical block of %d bytes in sectors of %d", size, block)
	}
	const maps = 440
	length, count := binary.LittleEndian.Uint32(b[264:]), binary.LittleEndian.Uint32(b[268:])
	if int64(length) > block-maps || count > maxPartitions {
		return corrupt("udf: %d partition maps in %d bytes", count, length)
	}
	q.maps = q.maps[:0]
	for rest := b[maps:][:length]; count > 0; count-- {
		if len(rest) < 2 || rest[1] < 2 || int(rest[1]) > len(rest) {
			return corrupt("udf: a damaged partition map")
		}
		partition := otherMap
		if rest[0] == 1 && rest[1] == 6 {
			partition = int(binary.LittleEndian.Uint16(rest[4:]))
		}
		q.maps = append(q.maps, partition)
		rest = rest[rest[1]:]
	}
	q.known, q.logical = true, number
	q.label = labelText(dstring(b[84:212]))
	q.fileSet = longAddress(b[248:264])
	return nil
}

// resolve returns the partitions by their reference numbers. An unknown one has no size.
func (q *udfSequence) resolve() []udfPartition {
	partitions := make([]udfPartition, len(q.maps))
	for reference, number := range q.maps {
		for _, p := range q.partitions {
			if p.number == number {
				partitions[reference] = p.udfPartition
			}
		}
	}
	return partitions
}

// longAddress is the address of a long_ad (ECMA-167 §4/14.14.2).
func longAddress(b []byte) udfAddress {
	return udfAddress{block: binary.LittleEndian.Uint32(b[4:]), partition: binary.LittleEndian.Uint16(b[8:])}
}

// offset returns the offset on the disk of size bytes at an address.
func (u *udf) offset(a udfAddress, size int64) (int64, error) {
	if int(a.partition) >= len(u.partitions) {
		return 0, corrupt("udf: partition %d does not exist", a.partition)
	}
	p, at := u.partitions[a.partition], int64(a.block)*u.block
	if at > p.size-size {
		return 0, corrupt("udf: %d bytes at block %d are beyond the end of partition %d, or it is of a kind that is not read",
			size, a.block, a.partition)
	}
	return p.at + at, nil
}

// descriptor views the descriptor at an address, which must have one of the tags.
func (u *udf) descriptor(s *session, a udfAddress, tags ...uint16) ([]byte, error) {
	at, err := u.offset(a, u.block)
	if err != nil {
		return nil, err
	}
	return descriptor(s, at, int(u.block), a.block, tags...)
}

// openFileSet reads the file set descriptor (ECMA-167 §4/14.1).
func (u *udf) openFileSet(s *session, a udfAddress) error {
	b, err := u.descriptor(s, a, tagFileSet)
	if err != nil {
		return err
	}
	u.top = longAddress(b[400:416])
	return nil
}

func (u *udf) root(s *session) (file, error) {
	f, err := u.file(s, u.top)
	if err == nil && !f.directory {
		err = corrupt("udf: the root is not a directory")
	}
	return f, err
}
