package rootfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/resource"
)

// mutate makes one change of the tree by a system call, if the failpoint allows it. It repeats the call after a signal,
// or if the failpoint requests that.
func mutate(c failpoint.Change, call func() error) error {
	return again(failpoint.Around(c, call))
}

// writeTo writes to a file.
func writeTo(f *os.File, data []byte) error {
	return mutate(failpoint.Change{Kind: failpoint.Write, File: f, Data: data}, func() error {
		_, err := f.Write(data)
		return err
	})
}

// chownTo sets a file's owner.
func chownTo(f *os.File, uid, gid int) error {
	return mutate(failpoint.Change{Kind: failpoint.Owner, File: f, UID: uid, GID: gid}, func() error { return f.Chown(uid, gid) })
}

// chmodTo sets a file's mode.
func chmodTo(f *os.File, mode uint32) error {
	return mutate(failpoint.Change{Kind: failpoint.Mode, File: f, Mode: mode}, func() error { return f.Chmod(resource.FileMode(mode)) })
}

// syncTo makes a file's content durable, or a directory's names.
func syncTo(kind failpoint.Kind, f *os.File) error {
	return mutate(failpoint.Change{Kind: kind, File: f}, f.Sync)
}

// cutTo cuts a file to a size.
func cutTo(f *os.File, size int64) error {
	return mutate(failpoint.Change{Kind: failpoint.Cut, File: f, Size: size}, func() error { return f.Truncate(size) })
}

// closeWritten closes a file that was written to. The file is closed even if there is an error: after a signal the call
// must not be repeated (close(2)), and its work is done.
func closeWritten(f *os.File) error {
	err := failpoint.Pass(failpoint.Change{Kind: failpoint.Close, File: f}, f.Close)
	if errors.Is(err, unix.EINTR) {
		return nil
	}
	return err
}
