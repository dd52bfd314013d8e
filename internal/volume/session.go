package volume

import (
	"errors"
	"fmt"
	"io"
)

// disk is a disk, or a partition of one.
type disk struct {
	reader io.ReaderAt
	// base is where it begins on what the reader reads, and size how long it is, in bytes.
	base, size int64
}

// pageSize is how much a session reads where it wants little, and the most that it can view.
const pageSize = 4096

// session is the work of one call on a disk: what may still be read, and the memory that is used again for
// every step on the way. What one step has got from it is good until the next of the same method.
type session struct {
	disk
	// reads is how often the disk was read, and limit the size in bytes of the largest file that is wanted.
	reads int
	limit int64
	// page is what was viewed last, with what is around it; pageAt is where, and paged how much.
	page   [pageSize]byte
	pageAt int64
	paged  int

	content []byte
	extents []extent
	name    [maxName]byte
}

func newSession(d disk) *session { return &session{disk: d} }

// enter goes on with a partition. What was read counts on.
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
		return nil // io.ReaderAt may say io.EOF with the last byte
	case err == nil || errors.Is(err, io.EOF):
		return corrupt("the disk ends at %d, not at %d", at+int64(max(n, 0)), s.size)
	}
	return fmt.Errorf("read %d bytes at %d: %w", len(p), at, err)
}

// view returns n bytes of the disk, pageSize at most, until the next view. Neighbours are read together.
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

// file is where on the disk a file or a directory is.
type file struct {
	directory bool
	// size is in bytes; of a directory on FAT it is that of its clusters.
	size    int64
	extents []extent
}

// unrecorded is where an extent is that was never written. It reads as zeros.
const unrecorded = -1

// extent is a piece of a file.
type extent struct{ at, size int64 }

// addExtent makes an extent one more piece of the file that is being put together, or longer the last
// piece, if it follows on that.
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

// fits checks the size of a file before anything is done for it.
func (s *session) fits(size int64) error {
	switch {
	case size > s.limit:
		return fmt.Errorf("%w: the file has %d bytes, the limit is %d", ErrTooLarge, size, s.limit)
	case size > s.size:
		return corrupt("a file of %d bytes is on a disk of %d", size, s.size)
	}
	return nil
}

// read fills p, which is no longer than the file, with the file's first bytes.
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

// directory returns the content of a directory, cut at maxDirectory, until the next directory.
func (s *session) directory(f file) ([]byte, error) {
	n := int(min(f.size, maxDirectory))
	if int64(n) > s.size {
		return nil, corrupt("a directory of %d bytes is on a disk of %d", n, s.size)
	}
	if n > cap(s.content) {
		// Two sizes, so that a path of directories that grow and grow needs little more than the largest.
		room := usualDirectory
		if n > room {
			room = maxDirectory
		}
		s.content = make([]byte, room)
	}
	s.content = s.content[:n]
	return s.content, s.read(f, s.content)
}
