// Package cache keeps the files of images on a workstation's disk, by their digests, in the layout of an OCI image: blobs/sha256/DIGEST.
//
// A file has its name only when it is complete, right and durable. An incomplete one has another name, and the next run continues it.
// A damaged file is removed when it is read. The package downloads nothing: internal/image/download does. A copy of the directory is
// a source for a machine without a network.
package cache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/internal/rootfs"
)

const (
	blobs = "/blobs/sha256/"
	// parts has downloads whose digest is unknown before they are complete.
	parts    = "/parts/"
	lockFile = "/lock"
)

// Cache is a directory of files.
type Cache struct {
	tree   *rootfs.Tree
	unlock func() error

	mu   sync.Mutex
	held map[string]*sync.Mutex
}

// Default is the directory of the user's cache.
func Default() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no directory for the cache: %w", err)
	}
	return filepath.Join(dir, "slipway", "image"), nil
}

// patience is how long Open waits for another process before it calls waiting.
const patience = 2 * time.Second

// Open opens a cache, creates it if it is missing, and locks it. If another process has locked it, Open calls waiting, and waits for
// its end.
func Open(ctx context.Context, dir string, waiting func()) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	tree, err := rootfs.Open(dir)
	if err != nil {
		return nil, err
	}
	c := &Cache{tree: tree, held: make(map[string]*sync.Mutex)}
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c.unlock, err = tree.Lock(soon, lockFile)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		waiting()
		c.unlock, err = tree.Lock(ctx, lockFile)
	}
	if err != nil {
		return nil, errors.Join(c.Failed(err), tree.Close())
	}
	return c, nil
}

// Close unlocks the cache.
func (c *Cache) Close() error { return errors.Join(c.unlock(), c.tree.Close()) }

// Hold makes the goroutines of this process that work on the same file do so one after the other: two components can have the same
// archive, and two images the same layer.
func (c *Cache) Hold(key string) (release func()) {
	c.mu.Lock()
	m := c.held[key]
	if m == nil {
		m = new(sync.Mutex)
		c.held[key] = m
	}
	c.mu.Unlock()
	m.Lock()
	return m.Unlock
}

// Failed names the cache in an error of its disk, if there is one.
func (c *Cache) Failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cache %s: %w", c.tree.Root(), err)
}

// Size returns the size of the file with a digest, or -1 if the cache does not have it. It reads the whole file, and removes a damaged
// one.
func (c *Cache) Size(digest string) (size int64, err error) {
	file, err := c.tree.OpenKind(blobs+digest, syscall.S_IFREG)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return -1, nil
	}
	if err != nil {
		return -1, c.Failed(rootfs.Failed("open", blobs+digest, err))
	}
	defer file.Close()
	sum := sha256.New()
	size, err = io.Copy(sum, file)
	if err != nil {
		return -1, c.Failed(rootfs.Failed("read", blobs+digest, err))
	}
	if hex.EncodeToString(sum.Sum(nil)) == digest {
		return size, nil
	}
	return -1, c.Remove(digest)
}

// Open opens the file with a digest, which the cache has.
func (c *Cache) Open(digest string) (*os.File, error) {
	file, err := c.tree.OpenKind(blobs+digest, syscall.S_IFREG)
	if err != nil {
		return nil, c.Failed(rootfs.Failed("open", blobs+digest, err))
	}
	return file, nil
}

// Data reads a small file, at most limit bytes of it.
func (c *Cache) Data(digest string, limit int64) ([]byte, error) {
	file, err := c.Open(digest)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, limit))
}

// Remove removes the file with a digest.
func (c *Cache) Remove(digest string) error {
	return c.Failed(errors.Join(c.tree.Remove(blobs+digest), c.tree.Sync()))
}

// Put adds the file with a digest. write writes and checks it; it may find the beginning of the file from an earlier run. If write
// fails with resumable true, the beginning stays for the next run.
func (c *Cache) Put(digest string, write func(part *rootfs.Part) (resumable bool, err error)) error {
	defer c.Hold(blobs + digest)()
	part, err := c.tree.OpenStaged(blobs + digest)
	if err != nil {
		return c.Failed(err)
	}
	resumable, err := write(part)
	if err == nil {
		err = c.Failed(part.Sync())
	} else if info, failed := part.Stat(); failed != nil || info.Size() == 0 {
		resumable = false
	}
	err = errors.Join(err, part.Close())
	if err == nil {
		err = c.Failed(c.tree.Commit(blobs + digest))
	}
	if err == nil {
		return c.Failed(c.tree.Sync())
	}
	if resumable && !rootfs.NoRoom(err) {
		return err
	}
	return errors.Join(err, c.Failed(c.tree.Unstage(blobs+digest)))
}

// PutData adds a small file, and returns its digest.
func (c *Cache) PutData(data []byte) (digest string, err error) {
	sum := sha256.Sum256(data)
	digest = hex.EncodeToString(sum[:])
	return digest, c.Put(digest, func(part *rootfs.Part) (bool, error) {
		if err := part.Truncate(0); err != nil {
			return false, err
		}
		_, err := part.Write(data)
		return false, err
	})
}

// PutUnknown adds a file whose digest is not known before: write writes it, and returns the digest. key names it until then.
func (c *Cache) PutUnknown(key string, write func(part *rootfs.Part) (digest string, err error)) (digest string, err error) {
	sum := sha256.Sum256([]byte(key))
	name := path.Join(parts, hex.EncodeToString(sum[:]))
	defer c.Hold(name)()
	part, err := c.tree.OpenPart(name)
	if err != nil {
		return "", c.Failed(err)
	}
	digest, err = write(part)
	if err == nil {
		err = c.Put(digest, func(to *rootfs.Part) (bool, error) { return false, c.Failed(copyPart(to, part, digest)) })
	}
	// A download without a digest is not continued, because another file could be at its source now.
	return digest, errors.Join(err, part.Close(), c.Failed(c.tree.Remove(name)))
}

// copyPart copies a file, and checks its digest.
func copyPart(to, from *rootfs.Part, digest string) error {
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return CopyChecked(to, from, digest)
}

// errChanged is the error of a file that changes while it is read.
var errChanged = errors.New("has another digest now than a moment before")

// CopyChecked writes a file from its beginning. It returns an error if the content has another digest; if digest is empty, any is
// right.
func CopyChecked(to *rootfs.Part, from io.Reader, digest string) error {
	if err := to.Truncate(0); err != nil {
		return err
	}
	if _, err := to.Seek(0, io.SeekStart); err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(to, sum), from); err != nil {
		return err
	}
	if digest != "" && hex.EncodeToString(sum.Sum(nil)) != digest {
		return errChanged
	}
	return nil
}
