package rootfs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
)

// digested is a file with its digest. The kernel sets the time of the last change (Changed), which no program can set.
type digested struct {
	Device, Inode uint64
	Size          int64
	Changed       unix.Timespec
	digest        string
}

// maxAttributes bounds the list of names of a file's extended attributes (xattr(7): XATTR_LIST_MAX).
const maxAttributes = 64 << 10

// Digest is the SHA-256 digest of a regular file, in hexadecimal, also through links. A file that has not changed since the last call
// is not read again.
func (t *Tree) Digest(name string, limit int64) (string, error) {
	name, err := t.linked(name)
	if err != nil {
		return "", err
	}
	digest, err := t.digest(name, limit)
	if err != nil {
		return "", Failed("read", name, err)
	}
	return digest, nil
}

func (t *Tree) digest(name string, limit int64) (string, error) {
	file, err := t.OpenKind(name, unix.S_IFREG)
	if err != nil {
		return "", err
	}
	defer file.Close()
	var stat unix.Stat_t
	if err := again(func() error { return unix.Fstat(int(file.Fd()), &stat) }); err != nil {
		return "", err
	}
	now := digested{Device: uint64(stat.Dev), Inode: stat.Ino, Size: stat.Size, Changed: stat.Ctim}
	t.mu.Lock()
	known := t.digests[name]
	t.mu.Unlock()
	if now.digest = known.digest; now == known && known.digest != "" {
		return known.digest, nil
	}
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(file, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("is larger than the limit of %d bytes", limit)
	}
	if err != nil {
		return "", err
	}
	now.digest = hex.EncodeToString(sum.Sum(nil))
	t.mu.Lock()
	t.digests[name] = now
	t.mu.Unlock()
	return now.digest, nil
}

// Attributes are the names of the extended attributes of a file or directory, sorted. Any other kind of file has none, nor has a file
// on a file system without them.
func (t *Tree) Attributes(name string) ([]string, error) {
	entry, err := t.Stat(name)
	if err != nil || entry.Kind != apply.RegularFile && entry.Kind != apply.Directory {
		return nil, err
	}
	kind := uint32(unix.S_IFREG)
	if entry.Kind == apply.Directory {
		kind = unix.S_IFDIR
	}
	file, err := t.OpenKind(name, kind)
	if err != nil {
		return nil, Failed("read", name, err)
	}
	defer file.Close()
	names, err := attributes(file)
	if err != nil {
		return nil, Failed("read the attributes of", name, err)
	}
	return names, nil
}

func attributes(file *os.File) ([]string, error) {
	list := make([]byte, 1<<10)
	for {
		var n int
		err := again(func() (err error) { n, err = unix.Flistxattr(int(file.Fd()), list); return err })
		switch {
		case errors.Is(err, unix.ENOTSUP):
			return nil, nil
		case errors.Is(err, unix.ERANGE) && len(list) < maxAttributes:
			list = make([]byte, maxAttributes)
		case err != nil:
			return nil, err
		default:
			names := strings.FieldsFunc(string(list[:n]), func(r rune) bool { return r == 0 })
			slices.Sort(names)
			return names, nil
		}
	}
}
