package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
)

// File is the destination of a download. It is open for reading and writing, and not for appending. Its errors name it.
type File interface {
	io.ReadWriteSeeker
	Name() string
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
}

// sink is the downloaded part of the file, with the digest of its content.
type sink struct {
	file File
	hash hash.Hash
	size int64
	// kept is the part from an earlier call.
	kept int64
	// most is its largest size so far.
	most int64
	// from is the source of its beginning, etag that source's name for this version, and sha256 the expected digest, if
	// known.
	from         *remote
	etag, sha256 string
	// pieces is the number of answers that it consists of.
	pieces int
	buffer []byte
}

// begin prepares the sink for a source's answer. The present content stays if the digest will check it, or if the
// source can report whether it still has the same version. limit is the file's maximum size.
func (s *sink) begin(from *remote, sha256sum string, limit int64) error {
	var keep bool
	switch {
	case s.hash == nil:
		if sha256sum == "" {
			break
		}
		if err := s.load(limit); err != nil {
			return err
		}
		keep = s.size > 0
	case sha256sum != "":
		keep = s.sha256 == sha256sum
	default:
		keep = s.from == from && s.etag != ""
	}
	s.sha256 = sha256sum
	if keep && s.size <= limit {
		return nil
	}
	return s.reset()
}

// load reads what an earlier call has left, if it is not too large.
func (s *sink) load(limit int64) error {
	info, err := s.file.Stat()
	if err != nil {
		return err // it names the file
	}
	s.hash = sha256.New()
	if info.Size() > limit {
		return nil
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	s.size, err = io.Copy(s.hash, s.file)
	s.kept, s.most, s.pieces = s.size, s.size, 1
	return err
}

// reset empties the file.
func (s *sink) reset() error {
	if err := s.file.Truncate(0); err != nil {
		return err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	s.hash, s.size, s.kept, s.pieces, s.from, s.etag = sha256.New(), 0, 0, 0, nil, ""
	return nil
}

// discard empties the file after a failure that makes it useless. stale reports that a new beginning may help.
func (s *sink) discard(f *failure, stale bool) *failure {
	if err := s.reset(); err != nil {
		return ownFailure(err)
	}
	f.stale, f.again = stale, stale
	return f
}

// sum is the digest of the file's content.
func (s *sink) sum() string { return hex.EncodeToString(s.hash.Sum(nil)) }

// bufferSize is the size of each write: the same file has the same writes, independent of the network.
const bufferSize = 64 << 10

// take writes a body to its end. limit is the file's maximum size.
func (s *sink) take(a *answer, limit int64, progress func()) *failure {
	s.pieces++
	if s.buffer == nil {
		s.buffer = make([]byte, bufferSize)
	}
	for {
		n, err := fill(a, s.buffer)
		if s.size+int64(n) > limit {
			return s.discard(failed(WrongContent, "is larger than %d bytes", limit), false)
		}
		if n > 0 {
			written, failure := s.file.Write(s.buffer[:n])
			s.hash.Write(s.buffer[:written])
			s.size += int64(written)
			s.most = max(s.most, s.size)
			if failure != nil {
				return ownFailure(failure)
			}
			progress()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			f := unanswered(a.ctx, err)
			if errors.Is(err, io.ErrUnexpectedEOF) { // the connection closed in the middle
				f = failed(WrongContent, "ends after %d bytes", s.size).retried()
			}
			return f
		}
	}
}

// fill reads until a buffer is full, or there is an error.
func fill(from io.Reader, buffer []byte) (n int, err error) {
	for n < len(buffer) && err == nil {
		var m int
		m, err = from.Read(buffer[n:])
		n += m
	}
	return n, err
}
