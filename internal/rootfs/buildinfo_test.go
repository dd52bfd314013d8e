package rootfs

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/test/hosttest"
)

// The record of a program, here of this test, is found below the tree. For a file without one, the error names the
// file.
func TestBuildInfo(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want, err := buildinfo.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	root := hosttest.TempDir(t)
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"program": program, "cut": program[:len(program)/2], "empty": nil} {
		if err := os.WriteFile(filepath.Join(root, name), content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if got, err := tree.BuildInfo("/program"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, name := range []string{"/cut", "/empty", "/missing"} {
		if got, err := tree.BuildInfo(name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

// recordProgram returns a program with two sections: the names and a build record.
func recordProgram(t testing.TB, modules string) []byte {
	names := recordSection + "\x00"
	record := append([]byte(recordMagic+"\x08\x02"), make([]byte, recordStart-len(recordMagic)-2)...)
	marker := strings.Repeat("m", markerSize)
	for _, text := range []string{"go1.26.0", marker + modules + marker} {
		record = append(binary.AppendUvarint(record, uint64(len(text))), text...)
	}
	header := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB)},
		Shoff: 64, Shnum: 2, Shstrndx: 0,
	}
	at := uint64(64 + 2*64)
	sections := []elf.Section64{
		{Name: uint32(len(names)), Off: at, Size: uint64(len(names))},
		{Off: at + uint64(len(names)), Size: uint64(len(record))},
	}
	var program bytes.Buffer
	for _, part := range []any{header, sections, []byte(names), record} {
		if err := binary.Write(&program, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	return program.Bytes()
}

// No program makes the reader panic or take much memory, and its error is always the same one.
func FuzzBuildInfo(f *testing.F) {
	whole := recordProgram(f, "path\tgithub.com/containerd/containerd/v2/cmd/containerd\n")
	if info, err := readBuildInfo(bytes.NewReader(whole)); err != nil || info.Path == "" || info.GoVersion != "go1.26.0" {
		f.Fatalf("%+v, %v", info, err)
	}
	f.Add(whole)
	for _, cut := range []int{0, 10, 63, 100, 190, 250, len(whole) - 1} {
		f.Add(whole[:cut])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := readBuildInfo(bytes.NewReader(data)); err != nil && !errors.Is(err, errNoRecord) {
			t.Error(err)
		}
	})
}
