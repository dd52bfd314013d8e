package command

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Private is the mode of a file with secrets, Public that of other files.
const (
	Private fs.FileMode = 0o600
	Public  fs.FileMode = 0o644
)

// WriteFile writes a file with a mode, as a [File].
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	file, err := CreateFile(path, mode)
	if err != nil {
		return err
	}
	if _, err := file.Write(data); err != nil {
		file.Discard()
		return err
	}
	return file.Commit()
}

// File is a file that is being written: under another name in the same directory, readable for its owner only. Commit syncs
// it to the disk, and then renames it. No reader sees an incomplete file, and an existing file stays until it is replaced.
type File struct {
	file *os.File
	path string
	mode fs.FileMode
}

// CreateFile begins a file.
func CreateFile(path string, mode fs.FileMode) (*File, error) {
	// A rename would replace a device or a link by a file: /dev/null, /dev/stdout.
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("write %s: it is %s, not a regular file", path, kindOf(info.Mode()))
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, Pathless(err))
	}
	return &File{file, path, mode}, nil
}

// Path is the file's path after Commit.
func (f *File) Path() string { return f.path }

// Write writes at the end.
func (f *File) Write(data []byte) (int, error) {
	n, err := f.file.Write(data)
	if err != nil {
		err = f.failed(err)
	}
	return n, err
}

// ReadAt reads what was written.
func (f *File) ReadAt(data []byte, offset int64) (int, error) { return f.file.ReadAt(data, offset) }

// Discard removes the file.
func (f *File) Discard() {
	_ = f.file.Close()
	_ = os.Remove(f.file.Name())
}

// Commit gives the file its mode and its name. If it fails, there is no file.
func (f *File) Commit() error {
	err := f.commit()
	if err != nil {
		f.Discard()
		return f.failed(err)
	}
	return nil
}

func (f *File) commit() error {
	if f.mode != Private {
		if err := f.file.Chmod(f.mode); err != nil {
			return err
		}
	}
	if err := f.file.Sync(); err != nil {
		return err
	}
	if err := f.file.Close(); err != nil {
		return err
	}
	return os.Rename(f.file.Name(), f.path)
}

func (f *File) failed(err error) error { return fmt.Errorf("write %s: %w", f.path, Pathless(err)) }

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "a device or a pipe"
}
