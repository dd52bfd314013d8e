package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxLog bounds a log, and as much again is kept of what was before it, or of it where it cannot be renamed. The watcher
// writes some 200 bytes about each thing that it does, so this is years; a unit that fails in a loop is what fills a disk.
const maxLog = 4 << 20

// reopen is how long a log that cannot be opened is left alone.
const reopen = time.Minute

// LogFile returns a writer that appends to a log at path. One that has become too large is renamed, to path with ".1", and
// a new one is begun: no image needs a logrotate for it. The file is opened, with mode 0640, by the
// first write, so a command that logs nothing leaves nothing behind. A log that cannot be written is
// passed over, and counted: it is kept beside the journal, and no reason to do nothing.
func (t *Tree) LogFile(path string) *LogFile { return &LogFile{tree: t, path: path} }

// LogFile is a log that is written to by [Tree.LogFile].
type LogFile struct {
	tree *Tree
	path string

	mu   sync.Mutex
	file *os.File
	// retry is when a log that is not open is opened again.
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

// rotate begins a new file where a record would make this one too large, and reports whether the record can be written.
// Other processes write to the same log: who has the lock of the full file renames it, and the others find that the name
// is another file's by then.
func (l *LogFile) rotate(more int64) bool {
	var stat unix.Stat_t
	if l.file == nil {
		return false
	}
	if unix.Fstat(int(l.file.Fd()), &stat) != nil || stat.Size+more <= maxLog {
		return true
	}
	if unix.Flock(int(l.file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return true // somebody is at it; the next record finds what has come of it
	}
	if l.setAside(&stat) == nil {
		l.file.Close() // with its lock
		l.file = l.open()
		return l.file != nil
	}
	_ = unix.Flock(int(l.file.Fd()), unix.LOCK_UN)
	return stat.Size+more <= 2*maxLog
}

// setAside renames the log, if it still is the file that has become too large.
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

// open opens the log, nil where it cannot be opened now.
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
		// Others have begun a new file, and another one after that, since this one was opened.
	}
}
