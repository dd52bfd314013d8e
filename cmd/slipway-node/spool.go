package main

import (
	"io"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/host"
)

// spool is a file that moves into memory if its disk is full.
type spool struct {
	*command.File
	size int64
	// elsewhere is the path in memory, and moved reports that the file is there.
	elsewhere string
	moved     bool
}

// newSpool begins a file. elsewhere is its path in memory if the disk is full. Empty means none.
func newSpool(path, elsewhere string) (*spool, error) {
	s := &spool{elsewhere: elsewhere}
	file, err := command.CreateFile(path, command.Private)
	if err != nil && host.NoRoom(err) && elsewhere != "" {
		return s, s.move()
	}
	s.File = file
	return s, err
}

// Write implements io.Writer.
func (s *spool) Write(data []byte) (int, error) {
	n, err := s.File.Write(data)
	if err != nil && host.NoRoom(err) && s.elsewhere != "" && !s.moved {
		if err := s.move(); err != nil {
			return 0, err
		}
		n, err = s.File.Write(data)
	}
	s.size += int64(n)
	return n, err
}

// move copies what was written so far into memory.
func (s *spool) move() error {
	if err := os.MkdirAll(filepath.Dir(s.elsewhere), 0o755); err != nil {
		return err
	}
	file, err := command.CreateFile(s.elsewhere, command.Private)
	if err != nil {
		return err
	}
	if s.File != nil {
		if _, err := io.Copy(file, io.NewSectionReader(s.File, 0, s.size)); err != nil {
			file.Discard()
			return err
		}
		s.File.Discard()
	}
	s.File, s.moved = file, true
	return nil
}
