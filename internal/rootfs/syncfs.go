package rootfs

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/failpoint"
)

// SyncFileSystem makes durable all writes of all programs to the file system that holds path.
func (t *Tree) SyncFileSystem(name string) error {
	p, err := t.find(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return t.failed("sync", name, err)
	}
	defer p.close()
	err = mutate(failpoint.Change{Kind: failpoint.SyncAll, File: p.dir}, func() error { return unix.Syncfs(p.fd()) })
	if err != nil {
		return t.failed("sync the file system of", name, err)
	}
	return nil
}
