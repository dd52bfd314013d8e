package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/resource"
)

// maxStaged is how many files StageAll has open at a time: fewer than the smallest usual limit of a process (1,024).
const maxStaged = 256

// Stage is StageAll for one file.
func (t *Tree) Stage(file *resource.File) error { return t.StageAll([]*resource.File{file})[0] }

// StageAll writes the content, mode and owner of files, each under a temporary name beside its path, and syncs them. It
// creates missing parents with mode 0755. A path does not change until Commit, and at no moment has a file more
// permissions than its final ones. The errors are in the files' order; nothing remains of a file with an error.
//
// It writes before it syncs, and syncs several files at a time. So a file system with a journal commits that a few times,
// and not once for each file.
func (t *Tree) StageAll(files []*resource.File) []error {
	var errs []error
	for some := range slices.Chunk(files, maxStaged) {
		errs = append(errs, t.stageSome(some)...)
	}
	return errs
}

func (t *Tree) stageSome(files []*resource.File) []error {
	errs, written := make([]error, len(files)), make([]*os.File, len(files))
	for i, file := range files {
		written[i], errs[i] = t.write(file)
	}
	inParallel(len(files), func(i int) {
		if errs[i] == nil {
			errs[i] = syncAndClose(written[i])
		}
		if errs[i] != nil {
			errs[i] = t.failed("stage", files[i].Path, errs[i])
			_ = t.Unstage(files[i].Path) // a full disk needs the space; the first error is the one to report
		}
	})
	return errs
}

// write writes a new file under its temporary name, and starts the transfer of its content to the disk.
func (t *Tree) write(file *resource.File) (*os.File, error) {
	p, err := t.prepare(file.Path)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if err := p.replaceable(); err != nil {
		return nil, err
	}
	if err := checkMode(file.Mode); err != nil {
		return nil, err
	}
	f, err := p.createNew(p.staged(), file.Mode&0o600)
	if err != nil {
		return nil, err
	}
	if err := t.fill(f, file); err != nil {
		f.Close()
		return nil, err
	}
	// This only saves time: the sync transfers what is left, and reports the errors.
	_ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
	return f, nil
}

func syncAndClose(f *os.File) error {
	if err := syncTo(failpoint.Sync, f); err != nil {
		f.Close()
		return fmt.Errorf("sync: %w", bare(err))
	}
	if err := closeWritten(f); err != nil {
		return fmt.Errorf("close: %w", bare(err))
	}
	return nil
}

// createNew creates a new file. It replaces a file that an interrupted run left under the name.
func (p *entry) createNew(name string, mode uint32) (*os.File, error) {
	if err := p.discard(name); err != nil {
		return nil, fmt.Errorf("remove stale %s: %w", name, err)
	}
	f, err := p.open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, mode)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", name, err)
	}
	return f, nil
}

// create creates a new file with the content of fill. It replaces a file that an interrupted run left under the name.
// If fill fails, it removes the file.
func (p *entry) create(name string, mode uint32, fill func(*os.File) error) error {
	f, err := p.createNew(name, mode)
	if err != nil {
		return err
	}
	err = fill(f)
	if err == nil {
		if err = closeWritten(f); err == nil {
			return nil
		}
		err = fmt.Errorf("close: %w", bare(err))
	}
	f.Close()
	p.discard(name) // a full disk needs the space; the first error is the one to report
	return err
}

// checkMode requires a mode that a plan can set.
func checkMode(mode uint32) error {
	if mode&^permissionBits != 0 {
		return fmt.Errorf("mode %#o has more than permission bits: %w", mode, fs.ErrInvalid)
	}
	return nil
}

// fill writes and labels a new file.
func (t *Tree) fill(f *os.File, file *resource.File) error {
	if err := writeTo(f, file.Content); err != nil {
		return fmt.Errorf("write: %w", bare(err))
	}
	if t.owned {
		// This comes before the mode: a change of owner clears the setuid and setgid bits.
		if err := chownTo(f, file.UID, file.GID); err != nil {
			return fmt.Errorf("set owner %d:%d: %w", file.UID, file.GID, bare(err))
		}
	}
	if err := chmodTo(f, file.Mode); err != nil {
		return fmt.Errorf("set mode %04o: %w", file.Mode, bare(err))
	}
	return nil
}

// Commit renames a staged file into place.
func (t *Tree) Commit(path string) error {
	p, err := t.find(path)
	if err != nil {
		return t.failed("commit", path, err)
	}
	defer p.close()
	if err := p.replaceable(); err != nil {
		return t.failed("commit", path, err)
	}
	if err := p.rename(p.staged(), p.base); err != nil {
		return t.failed("commit", path, fmt.Errorf("rename %s: %w", p.staged(), err))
	}
	t.touch(p.parent())
	return nil
}

// Unstage removes what Stage left for path, if anything.
func (t *Tree) Unstage(path string) error {
	p, err := t.find(path)
	if isNothing(err) {
		return nil
	}
	if err != nil {
		return t.failed("unstage", path, err)
	}
	defer p.close()
	// Nearly always there is nothing staged, and then nothing is changed.
	if _, err := p.statOf(p.staged()); isNothing(err) {
		return nil
	}
	if err := p.discard(p.staged()); err != nil {
		return t.failed("unstage", path, err)
	}
	return nil
}

// WriteFileAtomic stages a file, commits it and makes it durable: a reader of the path gets the complete old content or
// the complete new one.
func (t *Tree) WriteFileAtomic(file *resource.File) error {
	if err := t.Stage(file); err != nil {
		return err
	}
	if err := t.Commit(file.Path); err != nil {
		return errors.Join(err, t.Unstage(file.Path))
	}
	return t.Sync()
}

func joinPath(dir, base string) string {
	if dir == "/" {
		return "/" + base
	}
	return dir + "/" + base
}
