package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/diskfs/go-diskfs/backend"
)

// Where the bytes of a file are, by the kernel's documentation, "ext4 Data Structures and Algorithms": "The Super Block", "Block Group
// Descriptors", "Index Nodes", "The Contents of inode.i_block". go-diskfs (v1.9.4) has no way to ask for it, and reads other bytes of the
// disk in the place of a hole, or reads for ever. mke2fs makes a hole of each block of zeros, so most programs have some.
const (
	superblockAt    = 1024
	extentsMagic    = 0xF30A
	extentEntry     = 12
	usesExtents     = 0x80000 // EXT4_EXTENTS_FL
	wide            = 0x80    // INCOMPAT_64BIT
	scattered       = 0x10    // INCOMPAT_META_BG: the descriptors are at other places
	deepest         = 5
	longestExtent   = 1 << 15 // a longer one has no data yet
	mostExtents     = 1 << 20
	iBlock, iBlocks = 0x28, 60
)

// geometry are the numbers of a file system by which an inode is found.
type geometry struct {
	image                                    backend.Storage
	start                                    int64
	block, inodesPerGroup, inode, descriptor int64
	descriptors                              int64
	wide                                     bool
}

// superblock reads the superblock of the file system that begins at a byte.
func superblock(image backend.Storage, start int64) ([]byte, error) {
	super := make([]byte, 1024)
	_, err := image.ReadAt(super, start+superblockAt)
	return super, err
}

// geometryOf returns the numbers in the superblock.
func geometryOf(image backend.Storage, start int64) (*geometry, error) {
	super, err := superblock(image, start)
	if err != nil {
		return nil, err
	}
	word := func(at int) int64 { return int64(binary.LittleEndian.Uint32(super[at:])) }
	short := func(at int) int64 { return int64(binary.LittleEndian.Uint16(super[at:])) }
	g := &geometry{image: image, start: start, block: 1024 << min(word(0x18), 6), inodesPerGroup: word(0x28), inode: short(0x58), descriptor: 32}
	if g.wide = word(0x60)&wide != 0; g.wide {
		g.descriptor = short(0xFE)
	}
	g.descriptors = (word(0x14) + 1) * g.block
	if g.inodesPerGroup == 0 || g.inode < 128 || g.inode > g.block || g.descriptor < 32 || g.descriptor > g.block || word(0x60)&scattered != 0 {
		return nil, fmt.Errorf("the file system's layout is not one that can be read: %w", errors.ErrUnsupported)
	}
	return g, nil
}

// extent is a part of a file in one piece, in blocks.
type extent struct{ first, count, at int64 }

// extents returns where a file's blocks are, in the order of the file. What is between them is a hole.
func (g *geometry) extents(inode uint32) ([]extent, error) {
	if inode == 0 {
		return nil, errors.New("the file has no inode")
	}
	group, index := int64(inode-1)/g.inodesPerGroup, int64(inode-1)%g.inodesPerGroup
	descriptor := make([]byte, g.descriptor)
	if _, err := g.image.ReadAt(descriptor, g.start+g.descriptors+group*g.descriptor); err != nil {
		return nil, err
	}
	table := int64(binary.LittleEndian.Uint32(descriptor[0x8:]))
	if g.wide && len(descriptor) >= 0x2C {
		table |= int64(binary.LittleEndian.Uint32(descriptor[0x28:])&0x7fff) << 32
	}
	node := make([]byte, g.inode)
	if _, err := g.image.ReadAt(node, g.start+table*g.block+index*g.inode); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(node[0x20:])&usesExtents == 0 {
		return nil, fmt.Errorf("the file has no extents: %w", errors.ErrUnsupported)
	}
	var all []extent
	if err := g.collect(node[iBlock:iBlock+iBlocks], deepest, &all); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b extent) int { return int(a.first - b.first) })
	return all, nil
}

// collect adds the extents of a node of the tree. Each node below has a smaller depth.
func (g *geometry) collect(node []byte, below int, all *[]extent) error {
	entries, depth := int(binary.LittleEndian.Uint16(node[2:])), int(binary.LittleEndian.Uint16(node[6:]))
	if binary.LittleEndian.Uint16(node) != extentsMagic || depth >= below || extentEntry*(entries+1) > len(node) || len(*all) > mostExtents {
		return errors.New("the file's extents are damaged")
	}
	for n := 1; n <= entries; n++ {
		entry := node[extentEntry*n:]
		if depth == 0 {
			e := extent{int64(binary.LittleEndian.Uint32(entry)), int64(binary.LittleEndian.Uint16(entry[4:])),
				int64(binary.LittleEndian.Uint16(entry[6:]))<<32 | int64(binary.LittleEndian.Uint32(entry[8:]))}
			if e.count <= longestExtent {
				*all = append(*all, e)
			}
			continue
		}
		at := int64(binary.LittleEndian.Uint16(entry[8:]))<<32 | int64(binary.LittleEndian.Uint32(entry[4:]))
		block := make([]byte, g.block)
		if _, err := g.image.ReadAt(block, g.start+at*g.block); err != nil {
			return err
		}
		if err := g.collect(block, depth, all); err != nil {
			return err
		}
	}
	return nil
}

// body reads a file of some size, with zeros for holes.
type body struct {
	*geometry
	extents      []extent
	offset, size int64
}

// Read implements io.Reader.
func (c *body) Read(b []byte) (int, error) {
	if c.offset >= c.size {
		return 0, io.EOF
	}
	b = b[:min(int64(len(b)), c.size-c.offset)]
	for len(c.extents) > 0 && (c.extents[0].first+c.extents[0].count)*c.block <= c.offset {
		c.extents = c.extents[1:]
	}
	if len(c.extents) == 0 || c.extents[0].first*c.block > c.offset { // a hole
		if len(c.extents) > 0 {
			b = b[:min(int64(len(b)), c.extents[0].first*c.block-c.offset)]
		}
		clear(b)
		c.offset += int64(len(b))
		return len(b), nil
	}
	e := c.extents[0]
	within := c.offset - e.first*c.block
	b = b[:min(int64(len(b)), e.count*c.block-within)]
	n, err := c.image.ReadAt(b, c.start+e.at*c.block+within)
	if n < len(b) && err == nil {
		err = io.ErrUnexpectedEOF
	}
	c.offset += int64(n)
	return n, err
}
