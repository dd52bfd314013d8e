package volume

import (
	"errors"
	"fmt"
	"io"
)

// disk is a disk, or a partition of one.
type disk struct {
	reader io.ReaderAt
	// base is its offset in the reader's data, and size its length, in bytes.
	base, size int64
}

// pageSize is how much a session reads for a small view, and the largest view.
const pageSize = 4096

// session is the work of one call on a disk: the remaining reads, and the memory that every step uses again. A step's
// result is valid until the next call of the same method.
type session struct {
	disk
	// reads is the number of reads so far, and limit the maximum size of the file in bytes.
	reads int
	limit int64
	// page is the last view with its neighbourhood; pageAt is its offset, and paged its size.
	page   [pageSize]byte
	pageAt int64
	paged  int

	content []byte
	extents []extent
	name    [maxName]byte
}

func newSession(d disk) *session { return &session{disk: d} }

// enter continues with a partition. The number of reads stays.
func (s *session) enter(partition disk) { s.disk, s.paged = partition, 0 }

// readAt fills p from the disk, at an offset in bytes.
func (s *session) readAt(p []byte, at int64) error {
	if at < 0 || at > s.size-int64(len(p)) {
		return corrupt("%d bytes at %d are beyond the end of the disk, at %d", len(p), at, s.size)
	}
	if len(p) == 0 {
		return nil
	}
	if s.reads >= maxReads {
		return errTooManyReads
	}
	s.reads++
	n, err := s.reader.ReadAt(p, s.base+at)
	switch {
	case n == len(p):
		return nil // io.ReaderAt may return io.EOF with the last byte
	case err == nil || errors.Is(err, io.EOF):
		return corrupt("the disk ends at %d, not at %d", at+int64(max(n, 0)), s.size)
	}
	return fmt.Errorf("read %d bytes at %d: %w", len(p), at, err)
}

// view returns n bytes of the disk, pageSize at most, valid until the next view. It reads the neighbourhood, too.
func (s *session) view(at int64, n int) ([]byte, error) {
	if at < s.pageAt || at > s.pageAt+int64(s.paged-n) {
		start := at &^ (pageSize - 1)
		if at+int64(n) > start+pageSize {
			start = at
		}
		s.paged = 0
		if at < 0 || at > s.size-int64(n) {
			return nil, corrupt("%d bytes at %d are beyond the end of the disk, at %d", n, at, s.size)
		}
		length := int(min(pageSize, s.size-start))
		if err := s.readAt(s.page[:length], start); err != nil {
			return nil, err
		}
		s.pageAt, s.paged = start, length
	}
	return s.page[at-s.pageAt:][:n], nil
}

// file is the location of a file or directory on the disk.
type file struct {
	directory bool
	// size is in bytes; for a directory on FAT it is the size of its clusters.
	size    int64
	extents []extent
}

// unrecorded is the offset of an extent that was never written. It reads as zeros.
const unrecorded = -1

// extent is a piece of a file.
type extent struct{ at, size int64 }

// addExtent adds an extent to the file that is being assembled. If it follows directly on the last extent, it extends
// that.
func (s *session) addExtent(e extent) error {
	if n := len(s.extents); n > 0 && e.at != unrecorded {
		if last := &s.extents[n-1]; last.at != unrecorded && last.at+last.size == e.at {
			last.size += e.size
			return nil
		}
	}
	if len(s.extents) == maxExtents {
		return errTooManyExtents
	}
	s.extents = append(s.extents, e)
	return nil
}

// fits checks a file's size before any work on it.
func (s *session) fits(size int64) error {
	switch {
	case size > s.limit:
		return fmt.Errorf("%w: the file has %d bytes, the limit is %d", ErrTooLarge, size, s.limit)
	case size > s.size:
		return corrupt("a file of %d bytes is on a disk of %d", size, s.size)
	}
	return nil
}

// read fills p, which is not longer than the file, with the file's first bytes.
func (s *session) read(f file, p []byte) error {
	for _, e := range f.extents {
		if len(p) == 0 {
			break
		}
		piece := p[:min(int64(len(p)), e.size)]
		if e.at == unrecorded {
			clear(piece)
		} else if err := s.readAt(piece, e.at); err != nil {
			return err
		}
		p = p[len(piece):]
	}
	if len(p) > 0 {
		return corrupt("a file's extents are %d bytes shorter than the file", len(p))
	}
	return nil
}

// directory returns a directory's content, cut at maxDirectory, valid until the next directory.
func (s *session) directory(f file) ([]byte, error) {
	n := int(min(f.size, maxDirectory))
	if int64(n) > s.size {
		return nil, corrupt("a directory of %d bytes is on a disk of %d", n, s.size)
	}
	if n > cap(s.content) {
		// Two buffer sizes, so that a path of growing directories needs little more than the largest.
		room := usualDirectory
		if n > room {
			room = maxDirectory
		}
		s.content = make([]byte, room)
	}
	s.content = s.content[:n]
	return s.content, s.read(f, s.content)
}
