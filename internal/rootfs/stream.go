package rootfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/failpoint"
)

// OpenPart opens a file that is written in parts and continued after an interruption. It creates a missing file with
// its parents, readable for the superuser only. An existing file must be regular and have no other name.
func (t *Tree) OpenPart(name string) (*Part, error) {
	p, err := t.prepare(name)
	if err != nil {
		return nil, t.failed("open", name, err)
	}
	defer p.close()
	file, err := p.openFile(unix.O_RDWR|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = p.openFile(unix.O_RDWR|unix.O_NONBLOCK|unix.O_CREAT, 0o600)
	}
	if err != nil {
		return nil, t.failed("open", name, err)
	}
	if err := ownName(file); err != nil {
		file.Close()
		return nil, t.failed("open", name, err)
	}
	return &Part{file}, nil
}

// OpenStaged is [Tree.OpenPart] for the file that Commit renames to path. The caller syncs it before.
func (t *Tree) OpenStaged(name string) (*Part, error) {
	dir, base := path.Split(name)
	return t.OpenPart(dir + stagedName(base))
}

// Part is a file that is written in parts. It is not synced: after a power cut, its next writer must check the content.
type Part struct{ file *os.File }

// Name is the file's path in its tree.
func (p *Part) Name() string { return p.file.Name() }

// Stat describes the file.
func (p *Part) Stat() (fs.FileInfo, error) { return p.file.Stat() }

// Read reads at the present position.
func (p *Part) Read(data []byte) (int, error) { return p.file.Read(data) }

// Seek sets the position.
func (p *Part) Seek(offset int64, from int) (int64, error) { return p.file.Seek(offset, from) }

// Sync makes the content durable.
func (p *Part) Sync() error {
	if err := syncTo(failpoint.Sync, p.file); err != nil {
		return Failed("sync", p.Name(), err)
	}
	return nil
}

// Close closes the file.
func (p *Part) Close() error { return p.file.Close() }

// Write writes at the present position. After an error it is unknown how much was written.
func (p *Part) Write(data []byte) (int, error) {
	if err := writeTo(p.file, data); err != nil {
		return 0, Failed("write", p.Name(), err)
	}
	return len(data), nil
}

// Truncate cuts the file to a size.
func (p *Part) Truncate(size int64) error {
	if err := cutTo(p.file, size); err != nil {
		return Failed("truncate", p.Name(), err)
	}
	return nil
}

// StageStream is Stage for a file that is too large for memory: it writes the content as it reads it. The file is the
// superuser's.
func (t *Tree) StageStream(name string, mode uint32, content io.Reader) error {
	p, err := t.prepare(name)
	if err != nil {
		return t.failed("stage", name, err)
	}
	defer p.close()
	if err := p.replaceable(); err != nil {
		return t.failed("stage", name, err)
	}
	err = p.create(p.staged(), mode, func(f *os.File) error {
		if err := streamTo(f, content); err != nil {
			return err
		}
		if err := t.release(f, mode); err != nil {
			return err
		}
		return bare(syncTo(failpoint.Sync, f))
	})
	if err != nil {
		return t.failed("stage", name, err)
	}
	return nil
}

// streamTo writes the content of a reader.
func streamTo(f *os.File, content io.Reader) error {
	buf := make([]byte, 1<<20)
	for {
		n, err := content.Read(buf)
		if n > 0 {
			if err := writeTo(f, buf[:n]); err != nil {
				return fmt.Errorf("write: %w", bare(err))
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the source: %w", bare(err))
		}
	}
}
