package rootfs

import (
	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/failpoint"
)

// Restrict removes all permissions of a regular file except its owner's reading and writing, and reports whether there
// were others. It does not follow links. The mode is durable when it returns.
func (t *Tree) Restrict(path string) (had bool, err error) {
	p, err := t.find(path)
	if err != nil {
		return false, t.failed("restrict", path, err)
	}
	defer p.close()
	stat, err := p.stat()
	if err == nil {
		err = regular(stat)
	}
	if err != nil {
		return false, t.failed("restrict", path, err)
	}
	if stat.Mode&0o077 == 0 {
		return false, nil
	}
	file, err := p.openFile(unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return true, t.failed("restrict", path, err)
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return true, t.failed("restrict", path, unix.ESTALE)
	}
	if err = chmodTo(file, stat.Mode&0o600); err == nil {
		err = syncTo(failpoint.Sync, file)
	}
	if err != nil {
		return true, t.failed("restrict", path, err)
	}
	return true, nil
}
