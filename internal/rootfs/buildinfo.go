package rootfs

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// The section in which the Go tool chain records how it built a program (Go's debug/buildinfo, "Build info blob
// layout"): a header with the magic text and flags, the tool chain's version, and the list of modules between two
// markers. Before Go 1.18, the header had pointers to both.
const (
	recordSection = ".go.buildinfo"
	recordMagic   = "\xff Go buildinf:"
	recordFlags   = 15
	recordInline  = 2
	recordStart   = 32
	markerSize    = 16
	// These limit the memory for a program. A kubelet's record has 20 KiB.
	maxSections = 512
	maxNames    = 64 << 10
	maxRecord   = 1 << 20
)

var errNoRecord = errors.New("the program has no readable Go build record")

// BuildInfo reads what the Go tool chain, 1.18 or later, recorded in a 64-bit program. It does not run the program.
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

func readBuildInfo(program io.ReaderAt) (*debug.BuildInfo, error) {
	record, err := buildRecord(program)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoRecord, bare(err))
	}
	if len(record) < recordStart || !bytes.HasPrefix(record, []byte(recordMagic)) || record[recordFlags]&recordInline == 0 {
		return nil, errNoRecord
	}
	version, rest := cutString(record[recordStart:])
	modules, _ := cutString(rest)
	if len(modules) < 2*markerSize {
		return nil, errNoRecord
	}
	info, err := debug.ParseBuildInfo(string(modules[markerSize : len(modules)-markerSize]))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoRecord, err)
	}
	info.GoVersion = string(version)
	return info, nil
}

// buildRecord returns the content of the record's section, or nil if the program has no such section.
func buildRecord(program io.ReaderAt) ([]byte, error) {
	var header elf.Header64
	if err := decodeAt(program, 0, &header); err != nil {
		return nil, err
	}
	is64 := elf.Class(header.Ident[elf.EI_CLASS]) == elf.ELFCLASS64 && elf.Data(header.Ident[elf.EI_DATA]) == elf.ELFDATA2LSB
	if string(header.Ident[:4]) != elf.ELFMAG || !is64 || header.Shnum > maxSections || header.Shstrndx >= header.Shnum {
		return nil, nil
	}
	sections := make([]elf.Section64, header.Shnum)
	if err := decodeAt(program, header.Shoff, sections); err != nil {
		return nil, err
	}
	names := make([]byte, min(sections[header.Shstrndx].Size, maxNames))
	if err := decodeAt(program, sections[header.Shstrndx].Off, names); err != nil {
		return nil, err
	}
	for _, section := range sections {
		if bytes.HasPrefix(names[min(int(section.Name), len(names)):], []byte(recordSection+"\x00")) {
			record := make([]byte, min(section.Size, maxRecord))
			return record, decodeAt(program, section.Off, record)
		}
	}
	return nil, nil
}

// decodeAt reads a value of fixed size. All machines that can be a node have little-endian programs.
func decodeAt(program io.ReaderAt, offset uint64, into any) error {
	return binary.Read(io.NewSectionReader(program, int64(offset&(1<<62-1)), 1<<32), binary.LittleEndian, into)
}

// cutString splits a string off, after its length. It returns nil for a string that is cut.
func cutString(data []byte) (text, rest []byte) {
	length, n := binary.Uvarint(data)
	if n <= 0 || length > uint64(len(data)-n) {
		return nil, nil
	}
	data = data[n:]
	return data[:length], data[length:]
}
