package disk

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/diskfs/go-diskfs/backend"
	"github.com/diskfs/go-diskfs/filesystem/ext4"
)

// Tree is the root file system of an image. It implements [fs.ReadDirFS] and [fs.ReadLinkFS].
type Tree struct {
	system *ext4.FileSystem
	image  backend.Storage
}

// damaged turns a panic into an error: others have made the image, and go-diskfs does not check each number in it.
func damaged(err *error) {
	if reason := recover(); reason != nil {
		*err = fmt.Errorf("the file system is damaged: %v", reason)
	}
}

// errHoles is why a file with holes is not read: go-diskfs (v1.9.4) reads other bytes of the disk in their place, or reads for ever.
var errHoles = fmt.Errorf("it has holes, which only a mounted image shows; mount the image, and name the directory: %w", errors.ErrUnsupported)

// Open opens a file, and does not follow a link. To read a file with holes is an error that wraps [errors.ErrUnsupported].
func (t *Tree) Open(name string) (opened fs.File, err error) {
	defer damaged(&err)
	if opened, err = t.system.Open(name); err != nil {
		return nil, err
	}
	info, err := t.system.Stat(name)
	if err != nil {
		return nil, err
	}
	return &file{opened, info.Mode().IsRegular() && sparse(info)}, nil
}

// ReadDir lists a directory.
func (t *Tree) ReadDir(name string) (entries []fs.DirEntry, err error) {
	defer damaged(&err)
	return t.system.ReadDir(name)
}

// Stat describes a file, and does not follow a link.
func (t *Tree) Stat(name string) (info fs.FileInfo, err error) {
	defer damaged(&err)
	return t.system.Stat(name)
}

// Lstat describes a file, and does not follow a link.
func (t *Tree) Lstat(name string) (fs.FileInfo, error) { return t.Stat(name) }

// ReadLink returns the target of a link.
func (t *Tree) ReadLink(name string) (target string, err error) {
	defer damaged(&err)
	return t.system.ReadLink(name)
}

// Close closes the image.
func (t *Tree) Close() error { return t.image.Close() }

// sparse reports whether a file takes less room than its size. The unit of its blocks is 512 bytes.
func sparse(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*ext4.StatT)
	return ok && int64(stat.Blocks)*512 < info.Size()
}

// file is an open file. A hollow one has holes.
type file struct {
	fs.File
	hollow bool
}

func (f *file) Read(b []byte) (n int, err error) {
	defer damaged(&err)
	if f.hollow {
		return 0, errHoles
	}
	return f.File.Read(b)
}
