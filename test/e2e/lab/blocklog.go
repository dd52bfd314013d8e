package lab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// A block log contains all that a machine wrote to its disk, in order, with the flushes between. It
// has the format of Linux's dm-log-writes, which QEMU's blklogwrites also writes: a super block,
// and then entries, each with a header in a separate sector and the entry's data.

// blockLogMagic is the first value of a block log.
const blockLogMagic = 0x6a736677736872

// The flags of an entry.
const (
	blockFlush   = 1 << 0
	blockFUA     = 1 << 1
	blockDiscard = 1 << 2
	blockMark    = 1 << 3
)

// BlockEntry is one entry of a block log.
type BlockEntry struct {
	// Sector and Sectors are the position on the disk and the length, in the log's sectors.
	Sector, Sectors uint64
	Flags           uint64
	// data is the position of the entry's data in the log.
	data int64
	// End is the end of the entry in the log.
	End int64
}

// Flush reports whether the entry guarantees that all before it is on the disk.
func (e *BlockEntry) Flush() bool { return e.Flags&blockFlush != 0 }

// BlockLog is a block log.
type BlockLog struct {
	Entries []BlockEntry

	sectorSize int64
	file       io.ReaderAt
}

// ReadBlockLog reads a block log of the given size. An incomplete entry at the end was never
// written. The count in the super block is updated only now and then, so it is not used.
func ReadBlockLog(file io.ReaderAt, size int64) (*BlockLog, error) {
	header := make([]byte, 32)
	if _, err := file.ReadAt(header, 0); err != nil {
		return nil, fmt.Errorf("block log: %w", err)
	}
	field := func(i int) uint64 { return binary.LittleEndian.Uint64(header[8*i:]) }
	// The size of a sector has 32 bits.
	log := &BlockLog{file: file, sectorSize: int64(field(3) & 0xffffffff)}
	if field(0) != blockLogMagic || field(1) != 1 {
		return nil, errors.New("block log: no log of version 1")
	}
	if log.sectorSize < 512 || log.sectorSize > 1<<16 {
		return nil, fmt.Errorf("block log: sectors of %d bytes", log.sectorSize)
	}
	for at := log.sectorSize; at+log.sectorSize <= size; {
		if _, err := file.ReadAt(header, at); err != nil {
			return nil, fmt.Errorf("block log: %w", err)
		}
		e := BlockEntry{Sector: field(0), Sectors: field(1), Flags: field(2), data: at + log.sectorSize}
		length := int64(field(3))
		if e.Flags&(blockDiscard|blockMark) == 0 {
			if e.Sectors > uint64(size/log.sectorSize) {
				return nil, fmt.Errorf("block log: an entry of %d sectors at %d", e.Sectors, at)
			}
			length = int64(e.Sectors) * log.sectorSize
		}
		if length < 0 || e.data+length > size {
			break
		}
		e.End = e.data + (length+log.sectorSize-1)/log.sectorSize*log.sectorSize
		log.Entries = append(log.Entries, e)
		at = e.End
	}
	return log, nil
}

// Flushes returns the indices of the flushes among the entries that end in a part of the log.
func (l *BlockLog) Flushes(from, to int64) []int {
	var flushes []int
	for i := range l.Entries {
		if e := &l.Entries[i]; e.Flush() && e.End > from && e.End <= to {
			flushes = append(flushes, i)
		}
	}
	return flushes
}

// Disk is a disk to write to.
type Disk interface {
	io.ReaderAt
	io.WriterAt
}

// Replay writes the log to a disk that contains the first done entries, up to the flush with the
// given index. The disk is then as after a power cut right behind that flush.
func (l *BlockLog) Replay(disk Disk, done, flush int) error {
	for i := done; i <= flush; i++ {
		if err := l.apply(disk, &l.Entries[i]); err != nil {
			return err
		}
	}
	return nil
}

// ReplayEarly writes some of the writes between a flush and the next, as a disk may that writes
// early. undo removes them.
func (l *BlockLog) ReplayEarly(disk Disk, flush int, early func(n int) bool) (undo func() error, err error) {
	type extent struct {
		at   int64
		data []byte
	}
	var before []extent
	undo = func() error {
		for _, e := range slices.Backward(before) {
			if _, err := disk.WriteAt(e.data, e.at); err != nil {
				return err
			}
		}
		return nil
	}
	for n, i := 0, flush+1; i < len(l.Entries) && !l.Entries[i].Flush(); n, i = n+1, i+1 {
		e := &l.Entries[i]
		if !early(n) || !e.writes() {
			continue
		}
		was := extent{int64(e.Sector) * l.sectorSize, make([]byte, int64(e.Sectors)*l.sectorSize)}
		if _, err := disk.ReadAt(was.data, was.at); err != nil {
			return undo, err
		}
		before = append(before, was)
		if err := l.apply(disk, e); err != nil {
			return undo, err
		}
	}
	return undo, nil
}

// writes reports whether an entry has data.
func (e *BlockEntry) writes() bool { return e.Flags&(blockDiscard|blockMark) == 0 && e.Sectors > 0 }

// apply writes one entry. Discarded blocks may have any content, so they stay as they are.
func (l *BlockLog) apply(disk Disk, e *BlockEntry) error {
	if !e.writes() {
		return nil
	}
	_, err := io.Copy(io.NewOffsetWriter(disk, int64(e.Sector)*l.sectorSize),
		io.NewSectionReader(l.file, e.data, int64(e.Sectors)*l.sectorSize))
	return err
}

// OpenBlockLog reads a block log from a file, which the caller closes.
func OpenBlockLog(path string) (*BlockLog, *os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	log, err := ReadBlockLog(file, info.Size())
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return log, file, nil
}
