package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
)

// File is what a file is written to. It is open for reading and writing, and not for appending. Its errors name it.
type File interface {
	io.ReadWriteSeeker
	Name() string
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
}

// sink is the file, as far as it has come, with the digest of what is in it.
type sink struct {
	file File
	hash hash.Hash
	size int64
	// kept is how much of it was there from an earlier call.
	kept int64
	// most is the largest size that it has had.
	most int64
	// from is the place that it was begun from, etag what that calls this version of it, and sha256 the digest that it is
	// to have, if one is known.
	from         *remote
	etag, sha256 string
	// pieces is how many answers it is made of.
	pieces int
	buffer []byte
}

// begin makes the sink ready for an answer of a place. What is there stays if it is checked by the digest of what is wanted,
// or if the place can say whether it still has the same. limit is how large the file may be.
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

// load reads what an earlier call has left, if it is not too much.
func (s *sink) load(limit int64) error {
	info, err := s.file.Stat()
	if err != nil {
		return err // names the file
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

// discard empties the file for a failure after which it is useless. stale says that a new beginning may help.
func (s *sink) discard(f *failure, stale bool) *failure {
	if err := s.reset(); err != nil {
		return ownFailure(err)
	}
	f.stale, f.again = stale, stale
	return f
}

// sum is the digest of what is in the file.
func (s *sink) sum() string { return hex.EncodeToString(s.hash.Sum(nil)) }

// bufferSize is how much is written at a time: the same file in the same pieces, whatever the network makes of it.
const bufferSize = 64 << 10

// take writes a body to its end. limit is how large the file may be.
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
			if errors.Is(err, io.ErrUnexpectedEOF) { // the connection was closed in the middle
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
