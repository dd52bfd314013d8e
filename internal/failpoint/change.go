// Package failpoint is the place that every change of the machine passes. With the build tag failpoint each of them
// can fail, or be the last thing that the process does: so test/crash finds out what a node is like whose agent died
// at any moment. Without the tag nothing is there: [Pass] and [Around] come to the call itself, and there is no variable
// that anybody could set.
//
// It changes nothing itself, and knows no host: internal/rootfs, internal/systemd and internal/host put one of the two
// around what they do. test/crash and a program that is built for test/session set what decides.
package failpoint

import "os"

// Kind is what is done to the host.
type Kind string

// The kinds of change. Those of a unit's job, and of a directory's record of actions, have the action's own name. What a
// new kind of resource does to a host can be a Kind beside the method that does it.
const (
	Create        Kind = "create"
	Write         Kind = "write"
	Cut           Kind = "truncate"
	Allocate      Kind = "allocate"
	Mode          Kind = "chmod"
	Owner         Kind = "chown"
	Sync          Kind = "fsync"
	SyncDirectory Kind = "fsync-directory"
	SyncAll       Kind = "syncfs"
	Close         Kind = "close"
	Rename        Kind = "rename"
	Unlink        Kind = "unlink"
	Link          Kind = "link"
	Symlink       Kind = "symlink"
	Mkdir         Kind = "mkdir"
	Rmdir         Kind = "rmdir"
	Reload        Kind = "daemon-reload"
	Sysctl        Kind = "sysctl"
	Module        Kind = "module"
	Command       Kind = "command"
	Attribute     Kind = "attribute"
	Mount         Kind = "mount"
	Unmount       Kind = "unmount"
	SwapOn        Kind = "swapon"
	SwapOff       Kind = "swapoff"
	Interface     Kind = "make-interface"
	NoInterface   Kind = "remove-interface"
	Mask          Kind = "mask"
	Unmask        Kind = "unmask"
	Enable        Kind = "enable"
	Disable       Kind = "disable"
	Download      Kind = "download"
	Pull          Kind = "pull"
)

// Change is one change of the host, as whoever makes it describes it. It holds what is at hand anyway, so that
// nothing is worked out for it where there are no failpoints.
type Change struct {
	Kind Kind
	// File is the open directory that Name is in, or, without a name, what is itself changed.
	File *os.File
	Name string
	// Root is the directory of a tree that Name is a path in, or nil a unit or parameter of.
	Root string
	// To is another name in the directory, where a link leads, or what a parameter is set to.
	To   string
	Data []byte
	// Size is how much room is allocated, in bytes.
	Size int64
	Mode uint32
	UID  int
	GID  int
}

// Pass does one change of the host, as the failpoint lets it.
func Pass(c Change, call func() error) error { return Around(c, call)() }
