package rootfs

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// AppendLine appends a line to a file of lines of at most limit bytes. It creates a missing file with its parents. The
// file gets exactly this mode, whatever the umask. First it cuts off an incomplete line of a run that died or of a full
// disk. The error does not name the path: see [Failed].
func (t *Tree) AppendLine(name string, line []byte, mode uint32, limit int64) error {
	p, err := t.prepare(name)
	if err != nil {
		return err
	}
	defer p.close()
	file, err := p.openFile(unix.O_RDWR|unix.O_APPEND|unix.O_CREAT|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := ownName(file); err != nil {
		return err
	}
	end, err := endOfLines(file, limit)
	if err != nil {
		return err
	}
	if end+int64(len(line)) > limit {
		return fmt.Errorf("the file would grow beyond its limit of %d bytes: remove the file to start again", limit)
	}
	if err := chmodTo(file, mode); err != nil {
		return err
	}
	if err := writeTo(file, line); err != nil {
		return errors.Join(err, cutTo(file, end))
	}
	return closeWritten(file)
}

// endOfLines returns the end of the last complete line, and cuts off the part of another line that a run that died, or
// a full disk, left after it.
func endOfLines(file *os.File, limit int64) (int64, error) {
	// Nearly always the file ends with a complete line and need not be read.
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	last := []byte{'\n'}
	if size := info.Size(); info.Mode().IsRegular() && size > 0 {
		if _, err := file.ReadAt(last, size-1); err != nil {
			return 0, err
		}
	}
	if info.Mode().IsRegular() && last[0] == '\n' {
		return info.Size(), nil
	}
	data, err := readRegular(file, limit)
	if err != nil {
		return 0, err
	}
	end := int64(bytes.LastIndexByte(data, '\n') + 1)
	if end == int64(len(data)) {
		return end, nil
	}
	return end, cutTo(file, end)
}

// Overwrite writes to a file of the kernel, which takes the value at once and completely. The error does not name the
// path: see [Failed].
func (t *Tree) Overwrite(name, value string) error {
	p, err := t.find(name)
	if err != nil {
		return err
	}
	defer p.close()
	stat, err := p.stat()
	if err == nil {
		err = regular(stat)
	}
	if err != nil {
		return err
	}
	file, err := p.openFile(unix.O_WRONLY|unix.O_TRUNC|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	if err := writeTo(file, []byte(value)); err != nil {
		file.Close()
		return bare(err)
	}
	return bare(closeWritten(file))
}
