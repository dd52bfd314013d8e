package rootfs

import (
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// Head reads the first bytes of a regular file, at most limit, and its last change. It follows links, also a last one; none leads out
// of the tree. cut reports whether the file has more.
func (t *Tree) Head(name string, limit int64) (data []byte, changed time.Time, cut bool, err error) {
	if name, err = t.linked(name); err != nil {
		return nil, time.Time{}, false, err
	}
	file, err := t.OpenKind(name, unix.S_IFREG)
	if err != nil {
		return nil, time.Time{}, false, Failed("read", name, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(file, limit+1))
	}
	if err != nil {
		return nil, time.Time{}, false, Failed("read", name, err)
	}
	if int64(len(data)) > limit {
		data, cut = data[:limit], true
	}
	return data, info.ModTime(), cut, nil
}
