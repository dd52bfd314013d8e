package rootfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// What is read of a program: ELF's header and sections (System V ABI, "ELF header", "Sections"), and the record
// that the Go tool chain leaves in one of them (debug/buildinfo, Go 1.18 and later). debug/buildinfo reads it
// too, and every other kind of object file with it, for a third of a megabyte.
const (
	elfHeaderSize  = 64
	elfSectionSize = 64
	maxSections    = 512
	maxNames       = 64 << 10
	// maxRecord bounds the record; that of a program with 300 dependencies has 40 KiB.
	maxRecord   = 1 << 20
	recordName  = ".go.buildinfo"
	recordMagic = "\xff Go buildinf:"
	// recordStart is where the strings begin, recordInline says that they are in the record.
	recordStart  = 32
	recordFlags  = 15
	recordInline = 2
	// sentinel is what is before and after the modules' list.
	sentinel = 16
)

var errNoRecord = errors.New("is not a program with a readable Go build record")

// BuildInfo reads what the Go tool chain recorded in a binary. The binary is not run.
func (t *Tree) BuildInfo(path string) (*debug.BuildInfo, error) {
	p, err := t.find(path)
	if err != nil {
		return nil, Failed("read build record of", path, err)
	}
	defer p.close()
	file, err := p.openFile(unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, Failed("read build record of", path, err)
	}
	defer file.Close()
	info, err := readBuildInfo(file)
	if err != nil {
		return nil, Failed("read build record of", path, err)
	}
	return info, nil
}

// readBuildInfo reads the record of a 64-bit program, of the byte order that all nodes have.
func readBuildInfo(program io.ReaderAt) (*debug.BuildInfo, error) {
	record, err := goSection(program)
	if err != nil {
		return nil, err
	}
	if len(record) < recordStart || string(record[:len(recordMagic)]) != recordMagic || record[recordFlags]&recordInline == 0 {
		return nil, errNoRecord
	}
	version, rest, ok := recorded(record[recordStart:])
	if !ok {
		return nil, errNoRecord
	}
	modules, _, ok := recorded(rest)
	if !ok || len(modules) < 2*sentinel {
		return nil, errNoRecord
	}
	info, err := debug.ParseBuildInfo(string(modules[sentinel : len(modules)-sentinel]))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoRecord, err)
	}
	info.GoVersion = string(version)
	return info, nil
}

// recorded splits off a string, before which is its length.
func recorded(data []byte) (text, rest []byte, ok bool) {
	length, n := binary.Uvarint(data)
	if n <= 0 || length > uint64(len(data)-n) {
		return nil, nil, false
	}
	data = data[n:]
	return data[:length], data[length:], true
}

// goSection is the content of the section with the record.
func goSection(program io.ReaderAt) ([]byte, error) {
	header := make([]byte, elfHeaderSize)
	if _, err := program.ReadAt(header, 0); err != nil {
		return nil, errNoRecord // shorter than any program
	}
	const class64, littleEndian = 2, 1
	if string(header[:4]) != "\x7fELF" || header[4] != class64 || header[5] != littleEndian {
		return nil, errNoRecord
	}
	order := binary.LittleEndian
	offset, size := order.Uint64(header[40:]), order.Uint16(header[58:])
	count, names := int(order.Uint16(header[60:])), int(order.Uint16(header[62:]))
	if size != elfSectionSize || count > maxSections || names >= count {
		return nil, errNoRecord
	}
	sections := make([]byte, count*elfSectionSize)
	if err := readAt(program, sections, offset); err != nil {
		return nil, err
	}
	section := func(i int) (name uint32, at, length uint64) {
		s := sections[i*elfSectionSize:]
		return order.Uint32(s), order.Uint64(s[24:]), order.Uint64(s[32:])
	}
	_, at, length := section(names)
	table := make([]byte, min(length, maxNames))
	if err := readAt(program, table, at); err != nil {
		return nil, err
	}
	for i := range count {
		name, at, length := section(i)
		if uint64(name) < uint64(len(table)) && bytes.HasPrefix(table[name:], []byte(recordName+"\x00")) {
			record := make([]byte, min(length, maxRecord))
			return record, readAt(program, record, at)
		}
	}
	return nil, errNoRecord
}

func readAt(program io.ReaderAt, into []byte, offset uint64) error {
	if offset > 1<<62 {
		return errNoRecord
	}
	if _, err := program.ReadAt(into, int64(offset)); err != nil {
		return fmt.Errorf("%w: %w", errNoRecord, bare(err))
	}
	return nil
}
