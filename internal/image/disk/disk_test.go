package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	diskfs "github.com/diskfs/go-diskfs/backend/file"
	"github.com/diskfs/go-diskfs/filesystem/ext4"
	"github.com/diskfs/go-diskfs/partition/gpt"
	"github.com/lima-vm/go-qcow2reader/image/qcow2"
)

// The image of the tests: a table with two partitions, of which the second has the root file system.
const (
	imageSize = 24 << 20
	rootStart = 4 << 20
	rootSize  = 18 << 20
)

// content has the files of the image.
var content = map[string]string{
	"etc/os-release": "ID=debian\n",
	"etc/shadow":     "root:*:1:::::\n",
	"root/.profile":  strings.Repeat("umask 022\n", 1000),
}

// build makes the image.
func build(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "disk.raw")
	storage, err := diskfs.CreateFromPath(name, imageSize)
	if err != nil {
		t.Fatal(err)
	}
	defer storage.Close()
	writable, err := storage.Writable()
	if err != nil {
		t.Fatal(err)
	}
	table := &gpt.Table{LogicalSectorSize: sector, PhysicalSectorSize: sector, ProtectiveMBR: true, Partitions: []*gpt.Partition{
		{Index: 1, Start: 2048, End: rootStart/sector - 1, Type: gpt.EFISystemPartition, Name: "esp"},
		{Index: 2, Start: rootStart / sector, End: (rootStart+rootSize)/sector - 1, Type: gpt.LinuxRootX86_64, Name: "root"},
	}}
	if err := table.Write(writable, imageSize); err != nil {
		t.Fatal(err)
	}
	system, err := ext4.Create(storage, rootSize, rootStart, sector, &ext4.Params{VolumeName: "root"})
	if err != nil {
		t.Fatal(err)
	}
	for _, directory := range []string{"etc", "root"} {
		if err := system.Mkdir(directory); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range content {
		file, err := system.OpenFile(path, os.O_CREATE|os.O_RDWR)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := system.Symlink("/dev/null", "etc/masked"); err != nil {
		t.Fatal(err)
	}
	return name
}

// readAll reads a whole tree.
func readAll(tree fs.FS) (map[string]string, error) {
	all := make(map[string]string)
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		file, err := tree.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		text, err := io.ReadAll(io.LimitReader(file, 1<<20))
		all[name] = string(text)
		return err
	})
	return all, err
}

// TestOpen reads the files of an image behind its partition table.
func TestOpen(t *testing.T) { readsContent(t, build(t)) }

// readsContent demands that an image has the content.
func readsContent(t *testing.T, name string) {
	t.Helper()
	tree, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	all, err := readAll(tree)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range content {
		if all[name] != text {
			t.Errorf("%s: %d bytes, want %d", name, len(all[name]), len(text))
		}
	}
	if target, err := fs.ReadLink(tree, "etc/masked"); err != nil || target != "/dev/null" {
		t.Errorf("link to %q, %v", target, err)
	}
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		listed, err := entry.Info()
		if err != nil {
			return err
		}
		info, err := fs.Lstat(tree, name)
		if err != nil {
			return err
		}
		if listed.Mode() != info.Mode() || listed.Size() != info.Size() || !listed.ModTime().Equal(info.ModTime()) {
			t.Errorf("%s: listed as %v, and it is %v", name, fs.FormatFileInfo(listed), fs.FormatFileInfo(info))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRefused demands an error with the next step for what is no image that can be read.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	header := func(at int, bytes ...byte) string {
		image := wrap(make([]byte, 1<<20))
		copy(image[at:], bytes)
		return string(image)
	}
	for name, c := range map[string]struct{ content, want string }{
		"short":            {"ID", "too small"},
		"vhdx":             {"vhdxfile" + strings.Repeat("\x00", 4096), "qemu-img convert -f vhdx -O raw"},
		"zeroes":           {strings.Repeat("\x00", 1<<20), "no ext4 file system with a distribution"},
		"qcow2":            {header(0), "no ext4 file system with a distribution"},
		"qcow2 alone":      {qcow2.Magic + strings.Repeat("\x00", 4096), "qemu-img convert -f qcow2 -O raw"},
		"backing file":     {header(15, 1), "another file that has the rest; convert it first"},
		"external data":    {header(79, 1<<2), "another file that has the rest; convert it first"},
		"corrupt":          {header(79, 1<<1), "says of itself that it is damaged"},
		"large clusters":   {header(23, 22), "header is damaged"},
		"large table":      {header(36, 0, 0x40, 0, 1), "header is damaged"},
		"no disk":          {header(24, 0, 0, 0, 0, 0, 0, 0, 0), "the disk has 0 bytes"},
		"encrypted":        {header(35, 1), "unsupported encryption"},
		"unknown features": {header(79, 1<<7), "unsupported feature"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Open(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

// TestDamaged changes every second word of the image's own records, one at a time. Opening and reading the image must end, with or
// without an error, and take no more memory than the image has.
func TestDamaged(t *testing.T) {
	// The table of partitions, the superblock and the first group's descriptor.
	damage(t, build(t), span{512, 1024 + 256}, span{rootStart + 1024, rootStart + 1024 + 0x180}, span{rootStart + 4096, rootStart + 4096 + 64},
		span{rootStart + 2048, rootStart + 2048 + 64})
}

// damage changes words of an image, and reads it after each change.
func damage(t *testing.T, name string, places ...span) {
	t.Helper()
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	opened := 0
	for _, place := range places {
		for at := place.start; at < place.size; at += 4 {
			for _, value := range []uint32{0, 1, 0xffffffff, binary.LittleEndian.Uint32(whole[at:]) ^ 0x40} {
				damaged := binary.LittleEndian.AppendUint32(nil, value)
				if bytes.Equal(damaged, whole[at:at+4]) {
					continue
				}
				if _, err := file.WriteAt(damaged, at); err != nil {
					t.Fatal(err)
				}
				if tree, err := Open(name); err == nil {
					opened++
					_, _ = readAll(tree)
					_ = tree.Close()
				}
			}
			if _, err := file.WriteAt(whole[at:at+4], at); err != nil {
				t.Fatal(err)
			}
		}
	}
	if opened == 0 {
		t.Error("each change was refused at once, so the test tried no reading")
	}
}

// TestHoles reads files with holes, in many pieces and large, from a file system that mke2fs has made of a directory.
func TestHoles(t *testing.T) {
	mkfs, err := exec.LookPath("mke2fs")
	if err != nil {
		t.Skip("mke2fs is missing")
	}
	dir, random := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	want := map[string][]byte{"etc/os-release": []byte("ID=debian\n"), "empty": {}, "zeros": make([]byte, 3<<20), "end": append(make([]byte, 1<<20), 1)}
	pieces := make([]byte, 8<<20)
	for at := 0; at < len(pieces); at += 8192 { // each second block is a hole: more extents than an inode has room for
		for i := range 4096 {
			pieces[at+i] = byte(random.Uint32())
		}
	}
	want["pieces"], want["odd"] = pieces, pieces[:5<<20+77]
	for name, content := range want {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, options := range [][]string{nil, {"-b", "1024"}, {"-O", "^64bit"}} {
		image := filepath.Join(t.TempDir(), "disk.raw")
		if out, err := exec.Command(mkfs, append(slices.Clip(options), "-q", "-t", "ext4", "-d", dir, image, "64M")...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		tree, err := Open(image)
		if err != nil {
			t.Fatal(err)
		}
		for name, content := range want {
			file, err := tree.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(file)
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("%q: %s has %d bytes, want %d, or other ones: %v", options, name, len(got), len(content), err)
			}
		}
		if err := tree.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
