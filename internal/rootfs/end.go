package rootfs

import (
	"io"

	"golang.org/x/sys/unix"
)

// ReadEnd reads the last limit bytes of a regular file, and returns its size. It does not follow a last symbolic link, and never
// blocks. A file that grows meanwhile is read up to the limit. A file of the kernel has no size: then the first bytes are read.
func (t *Tree) ReadEnd(name string, limit int64) (end []byte, size int64, err error) {
	file, err := t.OpenKind(name, unix.S_IFREG)
	if err != nil {
		return nil, 0, Failed("read", name, err)
	}
	defer file.Close()
	var stat unix.Stat_t
	if err := again(func() error { return unix.Fstat(int(file.Fd()), &stat) }); err != nil {
		return nil, 0, Failed("read", name, err)
	}
	if _, err := file.Seek(max(0, stat.Size-limit), io.SeekStart); err != nil {
		return nil, 0, Failed("read", name, err)
	}
	if end, err = io.ReadAll(io.LimitReader(file, limit)); err != nil {
		return nil, 0, Failed("read", name, err)
	}
	return end, max(stat.Size, int64(len(end))), nil
}
