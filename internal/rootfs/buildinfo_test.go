package rootfs

import (
	"bytes"
	"debug/buildinfo"
	"errors"
	"os"
	"reflect"
	"testing"
)

// A program is read as Go's own reader reads it: this test, which the Go tool chain has built.
func TestBuildInfo(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want, err := buildinfo.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got, err := readBuildInfo(file)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

// program is a small program with nothing but a record: header, sections, names and record.
func program(modules string) []byte {
	elf := make([]byte, elfHeaderSize+3*elfSectionSize)
	copy(elf, "\x7fELF\x02\x01\x01")
	elf[40], elf[58], elf[60], elf[62] = elfHeaderSize, elfSectionSize, 3, 1
	names := "\x00.shstrtab\x00" + recordName + "\x00"
	const namesAt = elfHeaderSize + 3*elfSectionSize
	copy(elf[elfHeaderSize+elfSectionSize+24:], []byte{byte(namesAt & 0xff), byte(namesAt >> 8)})
	elf[elfHeaderSize+elfSectionSize+32] = byte(len(names))
	record := append([]byte(recordMagic+"\x08\x02"), make([]byte, 16)...)
	record = append(record, append([]byte{8}, "go1.26.0"...)...)
	modules = string(make([]byte, sentinel)) + modules + string(make([]byte, sentinel))
	record = append(append(record, byte(len(modules))), modules...)
	at := namesAt + len(names)
	last := elf[elfHeaderSize+2*elfSectionSize:]
	last[0], last[24], last[25], last[32] = 11, byte(at), byte(at>>8), byte(len(record))
	return append(append(elf, names...), record...)
}

// FuzzBuildInfo: no program crashes the reader or makes it take much memory, and its error is the one.
func FuzzBuildInfo(f *testing.F) {
	whole := program("path\tgithub.com/containerd/containerd/v2/cmd/containerd\n")
	if info, err := readBuildInfo(bytes.NewReader(whole)); err != nil || info.Path == "" || info.GoVersion != "go1.26.0" {
		f.Fatalf("%+v, %v", info, err)
	}
	f.Add(whole)
	for _, cut := range []int{0, 10, 63, 100, 300, len(whole) - 1} {
		f.Add(whole[:cut])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := readBuildInfo(bytes.NewReader(data)); err != nil && !errors.Is(err, errNoRecord) {
			t.Error(err)
		}
	})
}
