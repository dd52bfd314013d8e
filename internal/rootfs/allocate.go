package rootfs

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/failpoint"
)

// Allocate creates a file of size bytes that has all its blocks, begins with head, and is otherwise empty. It replaces
// an existing file when it is complete and durable. A file system can reserve space without writing it; if written is
// set, each block is written: swapon(8) accepts no file with holes. The caller calls Sync.
func (t *Tree) Allocate(name string, mode uint32, size int64, head []byte, written bool) error {
	p, err := t.prepare(name)
	if err != nil {
		return t.failed("make", name, err)
	}
	defer p.close()
	err = p.whole(mode, func(f *os.File) error {
		if err := bare(room(f, size, written)); err != nil {
			return err
		}
		if _, err := f.Seek(0, 0); err != nil {
			return bare(err)
		}
		return bare(writeTo(f, head))
	})
	if err != nil {
		return t.failed("make", name, err)
	}
	t.touch(p.parent())
	return nil
}

// whole creates a file under its temporary name, syncs it, and renames it into place.
func (p *entry) whole(mode uint32, fill func(*os.File) error) error {
	if err := p.replaceable(); err != nil {
		return err
	}
	err := p.create(p.staged(), mode, func(f *os.File) error {
		if err := fill(f); err != nil {
			return err
		}
		return bare(syncTo(failpoint.Sync, f))
	})
	if err != nil {
		return err
	}
	if err := p.rename(p.staged(), p.base); err != nil {
		p.discard(p.staged()) // the disk needs the space; the first error is the one to report
		return bare(err)
	}
	return nil
}

// room allocates a new file's blocks.
func room(f *os.File, size int64, written bool) error {
	if !written {
		err := mutate(failpoint.Change{Kind: failpoint.Allocate, File: f, Size: size}, func() error {
			return unix.Fallocate(int(f.Fd()), 0, 0, size)
		})
		if !cannotAllocate(err) {
			return err
		}
	}
	block := make([]byte, min(size, 1<<20))
	for left := size; left > 0; left -= int64(len(block)) {
		block = block[:min(int64(len(block)), left)]
		if err := writeTo(f, block); err != nil {
			return err
		}
	}
	return nil
}
