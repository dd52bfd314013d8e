package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxLog limits a log. As much again is kept of the log before it, or of this log if it cannot be renamed. The watcher
// writes some 200 bytes for each action, so this is enough for years; only a unit that fails in a loop can fill a disk.
const maxLog = 4 << 20

// reopen is the pause after a log could not be opened.
const reopen = time.Minute

// LogFile returns a writer that appends to a log at path. If the log becomes too large, it is renamed to path with
// ".1", and a new one begins, so that no image needs logrotate for it. The first write opens the file, with mode 0640,
// so a command that logs nothing leaves nothing behind. Records that cannot be written are dropped and counted: the
// journal also has them, and the agent must not stop because of its log.
func (t *Tree) LogFile(path string) *LogFile { return &LogFile{tree: t, path: path} }

// LogFile is a log opened by [Tree.LogFile].
type LogFile struct {
	tree *Tree
	path string

	mu   sync.Mutex
	file *os.File
	// retry is when a log that could not be opened is tried again.
	retry   time.Time
	dropped int
}

// Write never fails.
func (l *LogFile) Write(record []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil && !time.Now().Before(l.retry) {
		l.file = l.open()
	}
	if !l.rotate(int64(len(record))) || writeTo(l.file, record) != nil {
		l.dropped++
	}
	return len(record), nil
}

// rotate begins a new file if a record would make this one too large, and reports whether the record can be written.
// Other processes write to the same log: the process with the lock of the full file renames it, and the others find
// that the name then belongs to another file.
func (l *LogFile) rotate(more int64) bool {
	var stat unix.Stat_t
	if l.file == nil {
		return false
	}
	if unix.Fstat(int(l.file.Fd()), &stat) != nil || stat.Size+more <= maxLog {
		return true
	}
	if unix.Flock(int(l.file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return true // another process is renaming it; the next record finds the new file
	}
	if l.setAside(&stat) == nil {
		l.file.Close() // this also releases its lock
		l.file = l.open()
		return l.file != nil
	}
	_ = unix.Flock(int(l.file.Fd()), unix.LOCK_UN)
	return stat.Size+more <= 2*maxLog
}

// setAside renames the log, if it is still the file that has become too large.
func (l *LogFile) setAside(full *unix.Stat_t) error {
	p, err := l.tree.find(l.path)
	if err != nil {
		return err
	}
	defer p.close()
	now, err := p.stat()
	if err == nil && now.Ino == full.Ino && now.Dev == full.Dev {
		return p.rename(p.base, p.base+".1")
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Dropped is how many records could not be written.
func (l *LogFile) Dropped() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped
}

// open opens the log. It returns nil if that is not possible now.
func (l *LogFile) open() *os.File {
	l.retry = time.Now().Add(reopen)
	p, err := l.tree.prepare(l.path)
	if err != nil {
		return nil
	}
	defer p.close()
	for {
		file, err := p.openFile(unix.O_WRONLY|unix.O_APPEND|unix.O_CREAT|unix.O_NONBLOCK, 0o640)
		if err != nil {
			return nil
		}
		err = ownName(file)
		if err == nil {
			return file
		}
		file.Close()
		if !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		// Other processes have begun a new file, and another one after that, since this one was opened.
	}
}
