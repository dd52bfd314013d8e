package host

import (
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// LogFile returns a writer that appends to a log at path. The file is opened, with mode 0640, by the
// first write, so a command that logs nothing leaves nothing behind. A log that cannot be written is
// passed over: it is kept beside the journal, and no reason to do nothing.
func (t *Tree) LogFile(path string) io.Writer { return &logFile{tree: t, path: path} }

type logFile struct {
	tree *Tree
	path string

	mu     sync.Mutex
	opened bool
	file   *os.File
}

// Write never fails.
func (l *logFile) Write(record []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.opened {
		l.opened = true
		l.file = l.open()
	}
	if l.file != nil {
		writeTo(l.file, record)
	}
	return len(record), nil
}

func (l *logFile) open() *os.File {
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
