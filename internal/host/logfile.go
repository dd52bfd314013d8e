package host

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// LogFile returns a writer that appends to a log at path. The file is opened, with mode 0640, by the
// first write, so a command that logs nothing leaves nothing behind. A log that cannot be written is
// passed over, and counted: it is kept beside the journal, and no reason to do nothing.
func (t *Tree) LogFile(path string) *LogFile { return &LogFile{tree: t, path: path} }

// LogFile is a log that is written to by [Tree.LogFile].
type LogFile struct {
	tree *Tree
	path string

	mu      sync.Mutex
	opened  bool
	file    *os.File
	dropped int
}

// Write never fails.
func (l *LogFile) Write(record []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.opened {
		l.opened = true
		l.file = l.open()
	}
	if l.file == nil || writeTo(l.file, record) != nil {
		l.dropped++
	}
	return len(record), nil
}

// Dropped is how many records could not be written.
func (l *LogFile) Dropped() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped
}

func (l *LogFile) open() *os.File {
	p, err := l.tree.prepare(l.path)
	if err != nil {
		return nil
	}
	defer p.close()
	file, err := p.openFile(unix.O_WRONLY|unix.O_APPEND|unix.O_CREAT|unix.O_NONBLOCK, 0o640)
	if err != nil {
		return nil
	}
	if ownName(file) != nil {
		file.Close()
		return nil
	}
	return file
}
