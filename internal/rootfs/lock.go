package rootfs

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockRetry is how long a process that waits for a lock sleeps before it tries again. Only a signal to the thread could
// interrupt a blocking flock, and Go does not offer that.
const lockRetry = 20 * time.Millisecond

// Lock creates the lock file at path with mode 0600, and holds the lock until the returned function is called. It waits
// while another process, or another Lock of this one, holds it and ctx is not done. The kernel releases the lock when
// the process ends in any way.
func (t *Tree) Lock(ctx context.Context, path string) (unlock func() error, err error) {
	p, err := t.prepare(path)
	if err != nil {
		return nil, t.failed("lock", path, err)
	}
	defer p.close()
	ticker := time.NewTicker(lockRetry)
	defer ticker.Stop()
	for {
		file, err := p.tryLock()
		if err == nil {
			return func() error { return release(file, path) }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, t.failed("lock", path, err)
		}
		select {
		case <-ctx.Done():
			return nil, t.failed("lock", path, ctx.Err())
		case <-ticker.C:
		}
	}
}

// tryLock takes the lock. If it is held, the error is EWOULDBLOCK.
func (p *entry) tryLock() (*os.File, error) {
	file, err := p.openFile(unix.O_RDWR|unix.O_CREAT|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	locked := false
	defer func() {
		if !locked {
			file.Close()
		}
	}()
	var held unix.Stat_t
	if err := again(func() error { return unix.Fstat(int(file.Fd()), &held) }); err != nil {
		return nil, err
	}
	if err := regular(&held); err != nil {
		return nil, err
	}
	if err := again(func() error { return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) }); err != nil {
		return nil, err
	}
	// A lock on a removed file excludes no process: the next one creates a new file.
	named, err := p.stat()
	if err != nil || named.Dev != held.Dev || named.Ino != held.Ino {
		return nil, unix.EWOULDBLOCK
	}
	locked = true
	return file, nil
}

func release(file *os.File, path string) error {
	err := again(func() error { return unix.Flock(int(file.Fd()), unix.LOCK_UN) })
	if err := errors.Join(err, file.Close()); err != nil {
		return Failed("unlock", path, err)
	}
	return nil
}
