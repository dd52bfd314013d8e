package rootfs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Lines is how far a file of lines has been read. The zero value is for a file that was not read yet.
type Lines struct {
	stat unix.Stat_t // the file, when it was read last
	end  int64       // where the last whole line ends
	last []byte      // that line
}

// ReadLines returns the whole lines of a file of at most limit bytes that were added since the last call with the same
// read. If the file was replaced, changed or removed since then, it returns all of its lines. first reports whether lines
// begin with the file's first one. What follows the last line feed is left for the next call: a process that
// appends a line may have died before its end.
func (t *Tree) ReadLines(name string, limit int64, read *Lines) (lines []byte, first bool, err error) {
	file, err := t.OpenKind(name, unix.S_IFREG)
	if errors.Is(err, fs.ErrNotExist) {
		*read = Lines{}
		return nil, true, nil
	}
	if err != nil {
		return nil, false, Failed("read", name, err)
	}
	defer file.Close()
	if lines, err = read.next(file, limit); err != nil {
		return nil, false, Failed("read", name, err)
	}
	first = read.end == 0
	if len(lines) > 0 {
		read.end += int64(len(lines))
		read.last = bytes.Clone(lines[bytes.LastIndexByte(lines[:len(lines)-1], '\n')+1:])
	}
	return lines, first, nil
}

// next returns the whole lines that follow those that were read, or all after it has forgotten what was read.
func (l *Lines) next(file *os.File, limit int64) ([]byte, error) {
	before := l.stat
	if err := again(func() error { return unix.Fstat(int(file.Fd()), &l.stat) }); err != nil {
		return nil, err
	}
	grown := l.stat.Dev == before.Dev && l.stat.Ino == before.Ino && (l.stat.Size != before.Size || l.stat.Ctim == before.Ctim)
	if grown {
		// The times of a file are those of the kernel's last tick, and so the same for two changes in short order.
		// Hence the last line is compared as well. A shorter file has it no more.
		data, err := readFrom(file, l.end-int64(len(l.last)), limit)
		if err != nil {
			return nil, err
		}
		if added, ok := bytes.CutPrefix(data, l.last); ok {
			return wholeLines(added), nil
		}
	}
	l.end, l.last = 0, nil
	data, err := readFrom(file, 0, limit)
	return wholeLines(data), err
}

func readFrom(file *os.File, begin, limit int64) ([]byte, error) {
	if _, err := file.Seek(begin, io.SeekStart); err != nil {
		return nil, err
	}
	return readRegular(file, limit)
}

// wholeLines is the part of data that ends with a line feed.
func wholeLines(data []byte) []byte { return data[:bytes.LastIndexByte(data, '\n')+1] }
