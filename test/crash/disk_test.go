//go:build failpoint

package crash

import (
	"io/fs"
	"path"
	"strings"
)

// disk models a file system and what it must keep when the power goes: all that was synced, and an arbitrary part of the rest. It
// promises less than any file system that a node has its root on: names in one directory may survive in any order, and a file's
// content independently of its name.
type disk struct {
	root *inode
	// unnamed is the last file that was created without a name.
	unnamed *inode
}

// inode is a file, a directory or a symbolic link.
type inode struct {
	mode     fs.FileMode
	uid, gid uint32
	target   string
	content  string
	room     int64
	// kept is what was synced of a file's content, mode and owner.
	kept  entry
	dirty bool
	// names are a directory's names as they were synced; pending are the changes since.
	names   map[string]*inode
	pending []change
}

// change is one change of a directory's names. It survives completely or not at all. It binds each name to an inode, or removes it.
type change []binding

type binding struct {
	name string
	to   *inode
}

// newInode is an inode that the agent has just created.
func newInode(mode fs.FileMode) *inode { return &inode{mode: mode, uid: madeBy.uid, gid: madeBy.gid} }

func newDirectory(mode fs.FileMode) *inode {
	made := newInode(fs.ModeDir | mode)
	made.names = map[string]*inode{}
	return made
}

// newDisk is a disk on which a tree is durable.
func newDisk(t tree) *disk {
	d := &disk{root: newDirectory(0o755)}
	for _, at := range sorted(t) {
		if volatile(at) {
			continue
		}
		e := t[at]
		i := &inode{mode: e.mode, uid: e.uid, gid: e.gid, target: e.target, content: e.content, room: e.room}
		if e.mode.IsDir() {
			i.names = map[string]*inode{}
		}
		i.sync()
		d.find(path.Dir(at)).names[path.Base(at)] = i
	}
	return d
}

// volatile reports whether a path is in memory only, as /run is.
func volatile(at string) bool { return strings.HasPrefix(at, "/run/") }

// current is the inode of a directory's name now.
func (i *inode) current(name string) *inode {
	found := i.names[name]
	for _, c := range i.pending {
		for _, b := range c {
			if b.name == name {
				found = b.to
			}
		}
	}
	return found
}

// find returns the inode at a path now, or nil.
func (d *disk) find(at string) *inode {
	if strings.HasSuffix(at, " (deleted)") {
		return d.unnamed
	}
	found := d.root
	for name := range strings.SplitSeq(strings.TrimPrefix(at, "/"), "/") {
		if name != "" && found != nil {
			found = found.current(name)
		}
	}
	return found
}

func (i *inode) sync() {
	i.kept = entry{mode: i.mode, uid: i.uid, gid: i.gid, target: i.target, content: i.content, room: i.room}
	i.dirty = false
}

// bind changes names in the directory of a path.
func (d *disk) bind(at string, bindings ...binding) {
	dir := d.find(path.Dir(at))
	dir.pending = append(dir.pending, bindings)
}

// play repeats a run's mutation, and reports whether it can change the disk's content.
func (d *disk) play(e *event) bool {
	if volatile(e.Path) || isAction(&e.Mutation) {
		return false
	}
	base := path.Base(e.Path)
	switch e.Kind {
	case "create":
		made := newInode(fs.FileMode(e.Mode))
		switch found := d.find(e.Path); {
		case found == nil:
			made.sync()
			made.dirty = true
			d.bind(e.Path, binding{base, made})
		case found.mode.IsDir():
			made.sync()
			made.dirty = true
			d.unnamed = made
			return false
		}
	case "mkdir":
		made := newDirectory(fs.FileMode(e.Mode))
		made.sync()
		made.dirty = true
		d.bind(e.Path, binding{base, made})
	case "symlink":
		made := newInode(fs.ModeSymlink | 0o777)
		made.target = e.To
		made.sync()
		d.bind(e.Path, binding{base, made})
	case "link":
		d.bind(e.To, binding{path.Base(e.To), d.find(e.Path)})
	case "rename":
		d.bind(e.Path, binding{base, nil}, binding{path.Base(e.To), d.find(e.Path)})
	case "unlink", "rmdir":
		if d.find(e.Path) == nil {
			return false
		}
		d.bind(e.Path, binding{base, nil})
	default:
		return d.set(e)
	}
	return true
}

// set plays a change of a file's own attributes or content.
func (d *disk) set(e *event) bool {
	i := d.find(e.Path)
	if i == nil {
		return false
	}
	switch e.Kind {
	case "allocate":
		i.room = e.Size
	case "write":
		i.content += string(e.Data)
	case "truncate":
		i.content = i.content[:min(int(e.Size), len(i.content))]
	case "chmod":
		i.mode = i.mode.Type() | fs.FileMode(e.Mode)&fs.ModePerm
	case "chown":
		i.uid, i.gid = uint32(e.UID), uint32(e.GID)
	case "fsync":
		i.sync()
		return true
	case "fsync-directory":
		for _, c := range i.pending {
			for _, b := range c {
				i.names[b.name] = b.to
				if b.to == nil {
					delete(i.names, b.name)
				}
			}
		}
		i.pending = nil
		i.sync()
		return true
	default:
		return false
	}
	i.dirty = true
	return true
}
