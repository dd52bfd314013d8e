// Package disk opens the file of a disk image as a tree of files: a raw image, a fixed VHD or a qcow2, with a partition table or without,
// whose root file system is ext4.
//
// It reads without mounting, so it needs no privilege and no module of the kernel, and the image stays as it is.
// "slipway image check" reads images with it.
package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/diskfs/go-diskfs/backend"
	backendfile "github.com/diskfs/go-diskfs/backend/file"
	"github.com/diskfs/go-diskfs/filesystem/ext4"
	"github.com/diskfs/go-diskfs/partition"
	"github.com/lima-vm/go-qcow2reader/image/qcow2"
)

// sector is the size of a sector in bytes, of which partition tables of images count their places.
const sector = 512

// formats are images of other formats, by their first bytes. Those without expand are not read.
var formats = []struct {
	magic, name string
	expand      func(*os.File) (*expanded, error)
}{
	{qcow2.Magic, "qcow2", expand}, {"vhdxfile", "vhdx", nil}, {"KDMV", "vmdk", nil}, {"conectix", "vpc", nil}, {"<<< ", "vdi", nil},
}

// Open opens the first file system of an image that has a distribution.
//
// The caller closes the tree.
func Open(name string) (tree *Tree, err error) {
	opened, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = opened.Close()
		}
	}()
	defer damaged(&err)
	storage, err := storageOf(opened)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	spans, err := spans(storage)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, s := range spans {
		if !s.plausible(storage) {
			continue
		}
		system, err := ext4.Read(storage, s.size, s.start, sector)
		if err != nil {
			return nil, fmt.Errorf("%s: the file system at byte %d: %w", name, s.start, err)
		}
		for _, release := range []string{"etc/os-release", "usr/lib/os-release"} {
			if _, err := system.Stat(release); err == nil {
				g, err := geometryOf(storage, s.start)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				return &Tree{system, storage, g}, nil
			}
		}
	}
	return nil, fmt.Errorf("%s: it has no ext4 file system with a distribution; mount the image, and name the directory", name)
}

// storageOf returns the disk in an image.
func storageOf(file *os.File) (backend.Storage, error) {
	head := make([]byte, sector)
	if _, err := file.ReadAt(head, 0); err != nil {
		return nil, errors.New("it is too small for an image")
	}
	for _, f := range formats {
		if !bytes.HasPrefix(head, []byte(f.magic)) {
			continue
		}
		err := errors.New("it cannot be read")
		if f.expand != nil {
			var disk *expanded
			if disk, err = f.expand(file); err == nil {
				return disk, nil
			}
		}
		return nil, fmt.Errorf("it is an image of the format %s: %w; convert it first: qemu-img convert -f %[1]s -O raw IMAGE disk.raw", f.name, err)
	}
	return backendfile.New(file, true), nil
}

// span is the place of a file system in bytes.
type span struct{ start, size int64 }

// spans are the partitions, or the whole disk if it has none.
func spans(storage backend.Storage) (all []span, err error) {
	info, err := storage.Stat()
	if err != nil {
		return nil, err
	}
	table, err := partition.Read(storage, sector, sector)
	if err != nil {
		return []span{{0, info.Size()}}, nil
	}
	for _, p := range table.GetPartitions() {
		if start, size := p.GetStart(), p.GetSize(); start >= 0 && size > 0 && start <= info.Size()-size {
			all = append(all, span{start, size})
		}
	}
	return all, nil
}

// plausible reports whether there is an ext4 file system that fits its partition. The library believes what a file system says about
// its size, and takes memory for it.
//
// The fields are those of the kernel's documentation, "ext4 Data Structures and Algorithms", "The Super Block".
func (s span) plausible(storage backend.Storage) bool {
	super, err := superblock(storage, s.start)
	if err != nil {
		return false
	}
	blocks := uint64(binary.LittleEndian.Uint32(super[0x04:])) | uint64(binary.LittleEndian.Uint32(super[0x150:]))<<32
	shift := binary.LittleEndian.Uint32(super[0x18:])
	perGroup := binary.LittleEndian.Uint32(super[0x20:])
	const magic, smallestGroup = 0xEF53, 256
	return binary.LittleEndian.Uint16(super[0x38:]) == magic && shift <= 6 && perGroup >= smallestGroup &&
		blocks > 0 && blocks <= math.MaxInt64>>16 && blocks<<(10+shift) <= uint64(s.size)
}
