package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/diskfs/go-diskfs/backend"
	"github.com/lima-vm/go-qcow2reader/image/qcow2"
	qcow2log "github.com/lima-vm/go-qcow2reader/log"
)

// The limits of an image of the format qcow2, which are QEMU's (block/qcow2.h: MIN_CLUSTER_BITS, MAX_CLUSTER_BITS, QCOW_MAX_L1_SIZE). The
// library takes memory for what an image says.
const (
	leastClusterBits, mostClusterBits = 9, 21
	mostL1                            = 32 << 20 / 8
)

// expanded is the disk in an image of the format qcow2.
type expanded struct {
	*io.SectionReader
	file *os.File
}

// expand opens the disk in an image of the format qcow2. It reads no other file that the image names.
func expand(file *os.File) (*expanded, error) {
	var header struct {
		qcow2.HeaderFieldsV2
		qcow2.HeaderFieldsV3
	}
	if err := binary.Read(io.NewSectionReader(file, 0, sector), binary.BigEndian, &header); err != nil {
		return nil, err
	}
	const corrupt, externalData = 1 << qcow2.IncompatibleFeaturesCorruptBit, 1 << qcow2.IncompatibleFeaturesExternalDataFileBit
	switch features := header.IncompatibleFeatures; {
	case header.BackingFileOffset != 0, header.Version >= 3 && features&externalData != 0:
		return nil, errors.New("it is a part of a disk, and names another file that has the rest")
	case header.Version >= 3 && features&corrupt != 0:
		return nil, errors.New("it says of itself that it is damaged")
	case header.ClusterBits < leastClusterBits || header.ClusterBits > mostClusterBits, header.L1Size > mostL1:
		return nil, errors.New("its header is damaged")
	}
	qcow2log.SetWarnFunc(nil) // the library would print what an image says
	disk, err := qcow2.Open(file, nil)
	if err == nil {
		err = disk.Readable()
	}
	if err != nil {
		return nil, err
	}
	if disk.Size() <= 0 {
		return nil, fmt.Errorf("its header is damaged: the disk has %d bytes", disk.Size())
	}
	return &expanded{io.NewSectionReader(disk, 0, disk.Size()), file}, nil
}

// Stat describes the image, with the size of the disk.
func (e *expanded) Stat() (fs.FileInfo, error) {
	info, err := e.file.Stat()
	return sized{info, e.Size()}, err
}

type sized struct {
	fs.FileInfo
	size int64
}

// Size is the size of the disk in bytes.
func (s sized) Size() int64 { return s.size }

// Close closes the image.
func (e *expanded) Close() error { return e.file.Close() }

// Sys returns no file, because the bytes of the image are not those of the disk.
func (e *expanded) Sys() (*os.File, error) { return nil, backend.ErrNotSuitable }

// Writable returns no file, because the image stays as it is.
func (e *expanded) Writable() (backend.WritableFile, error) { return nil, backend.ErrIncorrectOpenMode }

// Path is the path of the image.
func (e *expanded) Path() string { return e.file.Name() }
