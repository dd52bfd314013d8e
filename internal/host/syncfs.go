package host

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// SyncFileSystem makes durable all that anybody has written to the file system that holds path.
func (t *Tree) SyncFileSystem(name string) error {
	p, err := t.find(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return t.failed("sync", name, err)
	}
	defer p.close()
	err = mutate(mutation{kind: mutateSyncAll, file: p.dir}, func() error { return unix.Syncfs(p.fd()) })
	if err != nil {
		return t.failed("sync the file system of", name, err)
	}
	return nil
}
