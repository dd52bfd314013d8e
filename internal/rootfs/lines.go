package rootfs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Lines is the read position in a file of lines. The zero value is for a file that was not read yet.
type Lines struct {
	stat unix.Stat_t // the file at the last read
	end  int64       // where the last whole line ends
	last []byte      // that line
}

// ReadLines returns the complete lines, in a file of at most limit bytes, that were added since the last call with the
// same read. If the file was replaced, changed or removed since then, it returns all of its lines. first reports
// whether lines begin with the file's first one. The rest after the last line feed is left for the next call: a process
// may have died while it appended a line.
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

// next returns the complete lines after the read position, or, if the file has changed, all lines.
func (l *Lines) next(file *os.File, limit int64) ([]byte, error) {
	before := l.stat
	if err := again(func() error { return unix.Fstat(int(file.Fd()), &l.stat) }); err != nil {
		return nil, err
	}
	grown := l.stat.Dev == before.Dev && l.stat.Ino == before.Ino && (l.stat.Size != before.Size || l.stat.Ctim == before.Ctim)
	if grown {
		// File times have the resolution of the kernel's tick, so two quick changes can have the same time. So the last
		// line is compared as well. A shorter file does not have it any more.
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
