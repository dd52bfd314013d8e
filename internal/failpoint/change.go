// Package failpoint wraps every change of the machine. With the build tag failpoint each change can fail, or be the
// last action of the process: so test/crash checks a node whose agent died at any moment. Without the tag the wrapper
// does nothing: [Pass] and [Around] make the call itself, and there is no variable that could be set.
//
// It changes nothing itself, and knows no host: internal/rootfs, internal/systemd and internal/host put one of the two
// around their changes. test/crash and a program that is built for test/session set the decision.
package failpoint

import "os"

// Kind is the kind of a change.
type Kind string

// The kinds of change. A change of a unit's job, or of a directory's record of actions, has the action's name. A new
// kind of resource can add a Kind beside the method that makes the change.
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

// Change is one change of the host, as its caller describes it. It holds only values that the caller has anyway, so
// that it costs nothing without failpoints.
type Change struct {
	Kind Kind
	// File is the open directory of Name, or, without a name, the changed file itself.
	File *os.File
	Name string
	// Root is the directory of the tree for the path Name. If empty, Name is a unit or parameter.
	Root string
	// To is another name in the directory, a link's target, or a parameter's value.
	To   string
	Data []byte
	// Size is the allocated space, in bytes.
	Size int64
	Mode uint32
	UID  int
	GID  int
}

// Pass makes one change of the host, if the failpoint allows it.
func Pass(c Change, call func() error) error { return Around(c, call)() }
