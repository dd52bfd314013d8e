package disk

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/diskfs/go-diskfs/backend"
	"github.com/diskfs/go-diskfs/filesystem/ext4"
)

// Tree is the root file system of an image. It implements [fs.ReadDirFS] and [fs.ReadLinkFS].
type Tree struct {
	system   *ext4.FileSystem
	image    backend.Storage
	geometry *geometry
}

// damaged turns a panic into an error: others have made the image, and go-diskfs does not check each number in it.
func damaged(err *error) {
	if reason := recover(); reason != nil {
		*err = fmt.Errorf("the file system is damaged: %v", reason)
	}
}

// Open opens a file, and does not follow a link.
func (t *Tree) Open(name string) (opened fs.File, err error) {
	defer damaged(&err)
	if opened, err = t.system.Open(name); err != nil {
		return nil, err
	}
	info, err := t.system.Stat(name)
	if err != nil {
		return nil, err
	}
	stat, ok := info.Sys().(*ext4.StatT)
	if !ok || !info.Mode().IsRegular() {
		return opened, nil
	}
	extents, err := t.geometry.extents(stat.Ino)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &file{opened, &body{geometry: t.geometry, extents: extents, size: info.Size()}}, nil
}

// ReadDir lists a directory.
func (t *Tree) ReadDir(name string) (entries []fs.DirEntry, err error) {
	defer damaged(&err)
	entries, err = t.system.ReadDir(name)
	for i, e := range entries {
		entries[i] = entry{e, t, path.Join(name, e.Name())}
	}
	return entries, err
}

// entry is an entry of a directory. The library's knows the kind of a file, and no other bit of its mode.
type entry struct {
	fs.DirEntry
	tree *Tree
	path string
}

func (e entry) Info() (fs.FileInfo, error) { return e.tree.Stat(e.path) }

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

// Start is where the file system begins in the disk, in bytes.
func (t *Tree) Start() int64 { return t.geometry.start }

// Close closes the image.
func (t *Tree) Close() error { return t.image.Close() }

// file is an open file: its content comes from its extents, and all else from the library.
type file struct {
	fs.File
	content *body
}

func (f *file) Read(b []byte) (int, error) { return f.content.Read(b) }
