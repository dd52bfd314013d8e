package host

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// mutationKind is what is done to the host.
type mutationKind string

// The kinds of mutation. Those of a directory's record of actions have the action's own name.
const (
	mutateCreate   mutationKind = "create"
	mutateWrite    mutationKind = "write"
	mutateCut      mutationKind = "truncate"
	mutateAllocate mutationKind = "allocate"
	mutateMode     mutationKind = "chmod"
	mutateOwner    mutationKind = "chown"
	mutateSync     mutationKind = "fsync"
	mutateSyncDir  mutationKind = "fsync-directory"
	mutateSyncAll  mutationKind = "syncfs"
	mutateClose    mutationKind = "close"
	mutateRename   mutationKind = "rename"
	mutateUnlink   mutationKind = "unlink"
	mutateLink     mutationKind = "link"
	mutateSymlink  mutationKind = "symlink"
	mutateMkdir    mutationKind = "mkdir"
	mutateRmdir    mutationKind = "rmdir"
	mutateReload   mutationKind = actionReload
	mutateSysctl   mutationKind = actionSysctl
	mutateModule   mutationKind = actionModule
	mutateCommand  mutationKind = actionCommand
)

// mutation is one change of the host, as a failpoint sees it: it goes through mutate, where it is one system
// call, or else, as a unit's job does, through pass. With the build tag failpoint, each can fail, or be the
// last thing that this process does. It holds what is at hand anyway, so that nothing is worked out for it
// where there are no failpoints.
type mutation struct {
	kind mutationKind
	// file is the open directory that name is in, or, without a name, what is itself changed.
	file *os.File
	name string
	// root is the directory of a tree that name is a path in, or nil a unit or parameter of.
	root string
	// to is another name in the directory, where a link leads, or what a parameter is set to.
	to   string
	data []byte
	// size is how much room is allocated.
	size int64
	mode uint32
	uid  int
	gid  int
}

// writeTo writes to a file.
func writeTo(f *os.File, data []byte) error {
	return mutate(mutation{kind: mutateWrite, file: f, data: data}, func() error {
		_, err := f.Write(data)
		return err
	})
}

// chownTo sets a file's owner.
func chownTo(f *os.File, uid, gid int) error {
	return mutate(mutation{kind: mutateOwner, file: f, uid: uid, gid: gid}, func() error { return f.Chown(uid, gid) })
}

// chmodTo sets a file's mode.
func chmodTo(f *os.File, mode uint32) error {
	return mutate(mutation{kind: mutateMode, file: f, mode: mode}, func() error { return f.Chmod(fileMode(mode)) })
}

// syncTo makes a file's content durable, or a directory's names.
func syncTo(kind mutationKind, f *os.File) error {
	return mutate(mutation{kind: kind, file: f}, f.Sync)
}

// cutTo cuts a file to a size.
func cutTo(f *os.File, size int64) error {
	return mutate(mutation{kind: mutateCut, file: f}, func() error { return f.Truncate(size) })
}

// closeWritten closes a file that was written to. It is closed whatever the error: one that a signal
// interrupts must not be repeated (close(2)), and what it was asked for is done.
func closeWritten(f *os.File) error {
	err := pass(mutation{kind: mutateClose, file: f}, f.Close)
	if errors.Is(err, unix.EINTR) {
		return nil
	}
	return err
}
