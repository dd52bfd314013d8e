package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/test/hosttest"
)

// newBlocks is a machine with the given block devices: "vda" is a disk, "vda/vda1" a partition of it, and "!vda" a disk
// without a device file (yet).
func newBlocks(t *testing.T, blocks ...string) (*Machine, func(string) string) {
	t.Helper()
	tree, at := newTree(t)
	must(t, os.MkdirAll(at("/sys/class/block"), 0o755))
	must(t, os.MkdirAll(at("/dev"), 0o755))
	for _, block := range blocks {
		name, missing := strings.CutPrefix(block, "!")
		addBlock(t, at, name)
		if !missing {
			must(t, os.WriteFile(at("/dev/"+filepath.Base(name)), nil, 0o600))
		}
	}
	return &Machine{Tree: tree}, at
}

// addBlock adds a block device to sysfs.
func addBlock(t *testing.T, at func(string) string, block string) {
	t.Helper()
	must(t, os.MkdirAll(at("/sys/devices/pci0/block/"+block), 0o755))
	must(t, os.Symlink("../../devices/pci0/block/"+block, at("/sys/class/block/"+filepath.Base(block))))
}

func TestDisks(t *testing.T) {
	for _, c := range []struct {
		name   string
		blocks []string
		// root is the device of the root file system, if any.
		root string
		want string
	}{
		{"none", nil, "", ""},
		{"disks and partitions", []string{"vdb", "vda", "vdb/vdb1"}, "", "vda vdb vdb1"},
		{"discs first", []string{"sda", "sr1", "sr0", "vda"}, "", "sr0 sr1 sda vda"},
		{"made of other things", []string{"loop0", "ram1", "zram0", "dm-0", "md127", "nbd0", "fd0", "vda"}, "", "vda"},
		{"without a device file", []string{"vda", "!vdb", "!nvme0c0n1"}, "", "vda"},
		{"the root's partition", []string{"vda", "vda/vda1", "vda/vda15", "vdb", "vdb/vdb1"}, "vda/vda1", "vdb vdb1"},
		{"the root's disk", []string{"vda", "vdb"}, "vda", "vdb"},
		{"the root of NVMe", []string{"nvme0n1", "nvme0n1/nvme0n1p1", "nvme1n1"}, "nvme0n1/nvme0n1p1", "nvme1n1"},
		{"a root made of other disks", []string{"vda", "vda/vda3", "dm-0"}, "dm-0", "vda vda3"},
	} {
		m, at := newBlocks(t, c.blocks...)
		if c.root != "" {
			var stat unix.Stat_t
			must(t, unix.Stat(at("/"), &stat))
			must(t, os.MkdirAll(at("/sys/dev/block"), 0o755))
			number := fmt.Sprintf("%d:%d", unix.Major(stat.Dev), unix.Minor(stat.Dev))
			must(t, os.Symlink("../../devices/pci0/block/"+c.root, at("/sys/dev/block/"+number)))
		}
		names, err := m.Disks()
		if got := strings.Join(names, " "); err != nil || got != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

// A machine without sysfs has no disks. If sysfs cannot be read, that is an error.
func TestDisksOfNoMachine(t *testing.T) {
	tree, at := newTree(t)
	m := &Machine{Tree: tree}
	if names, err := m.Disks(); err != nil || len(names) != 0 {
		t.Errorf("got %v, %v", names, err)
	}
	must(t, os.MkdirAll(at("/sys/class"), 0o755))
	must(t, os.WriteFile(at("/sys/class/block"), nil, 0o600))
	if names, err := m.Disks(); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, %v", names, err)
	}
}

func TestDisksAreBounded(t *testing.T) {
	var blocks []string
	for i := range maxDisks + 1 {
		blocks = append(blocks, fmt.Sprintf("sd%03d", i))
	}
	m, _ := newBlocks(t, append(blocks, "sr0")...)
	names, err := m.Disks()
	if err != nil || len(names) != maxDisks || names[0] != "sr0" {
		t.Errorf("%d disks, %v, %v", len(names), names[:min(2, len(names))], err)
	}
}

func TestDisksOfDirectory(t *testing.T) {
	d, err := OpenDirectory(t.TempDir())
	must(t, err)
	defer d.Close()
	if names, err := d.Disks(); err != nil || len(names) != 0 {
		t.Errorf("got %v, %v", names, err)
	}
	dev := filepath.Join(d.Root(), "dev")
	must(t, os.MkdirAll(filepath.Join(dev, "pts"), 0o755))
	for name, content := range map[string]string{"vdb": "a disk", "sr0": "a disc", "vda": "", "loop0": "x"} {
		must(t, os.WriteFile(filepath.Join(dev, name), []byte(content), 0o600))
	}
	must(t, os.Symlink("vdb", filepath.Join(dev, "vdc")))
	must(t, unix.Mkfifo(filepath.Join(dev, "vdd"), 0o600))
	names, err := d.Disks()
	if got := strings.Join(names, " "); err != nil || got != "sr0 vda vdb" {
		t.Errorf("got %q, %v", got, err)
	}

	disk, size, err := d.OpenDisk("vdb")
	must(t, err)
	defer disk.Close()
	content := make([]byte, 4)
	if _, err := disk.ReadAt(content, 2); err != nil || size != 6 || string(content) != "disk" {
		t.Errorf("%d bytes, %q, %v", size, content, err)
	}
	if d.WaitForDisk(t.Context(), nil) {
		t.Error("a disk is plugged into a directory")
	}
}

// A file that is not a disk is not opened, whatever its name, and OpenDisk does not wait for another program.
func TestOpenDiskRefusesOtherFiles(t *testing.T) {
	d, err := OpenDirectory(t.TempDir())
	must(t, err)
	defer d.Close()
	m := &Machine{Tree: d.Tree}
	dev := filepath.Join(d.Root(), "dev")
	must(t, os.MkdirAll(filepath.Join(dev, "directory"), 0o755))
	must(t, os.WriteFile(filepath.Join(dev, "file"), []byte("x"), 0o600))
	must(t, os.WriteFile(filepath.Join(dev, "empty"), nil, 0o600))
	must(t, os.WriteFile(filepath.Join(d.Root(), "outside"), []byte("x"), 0o600))
	must(t, os.Symlink("file", filepath.Join(dev, "link")))
	must(t, unix.Mkfifo(filepath.Join(dev, "pipe"), 0o600))
	for _, c := range []struct {
		name             string
		machine, nothing bool // whose disk; whether the error is that it is missing
	}{
		{"missing", true, true}, {"missing", false, true}, {"empty", false, true},
		{"file", true, false}, {"link", true, false}, {"link", false, false}, {"pipe", true, false}, {"pipe", false, false},
		{"directory", true, false}, {"directory", false, false},
		{"", false, false}, {".", false, false}, {"..", false, false}, {"../outside", false, false}, {"../dev/file", false, false},
		{"/dev/file", false, false}, {"directory/x", false, false}, {"file\x00", false, false},
	} {
		open := d.OpenDisk
		if c.machine {
			open = m.OpenDisk
		}
		disk, size, err := open(c.name)
		if err == nil || disk != nil || size != 0 || errors.Is(err, fs.ErrNotExist) != c.nothing {
			t.Errorf("%+v: %v, %d, %v", c, disk, size, err)
		}
	}
}

// The disks of the test's machine have the sizes that the kernel reports, and can be read.
func TestOpenDiskOfMachine(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the superuser reads disks")
	}
	m, err := OpenMachine()
	must(t, err)
	defer m.Close()
	names, err := m.ReadDir(blockDir)
	if err != nil {
		t.Skip(err)
	}
	opened := 0
	for _, name := range names {
		content, err := os.ReadFile(blockDir + "/" + name + "/size")
		if _, missing := os.Stat("/dev/" + name); err != nil || missing != nil {
			continue
		}
		sectors, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
		must(t, err)
		disk, size, err := m.OpenDisk(name)
		if errors.Is(err, fs.ErrPermission) {
			continue // a container may see devices that it may not open
		}
		if sectors == 0 {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s has no size, and is opened: %v", name, err)
			}
			continue
		}
		if strings.HasPrefix(name, optical) && errors.Is(err, fs.ErrNotExist) {
			continue // the drive is empty, whatever size it reports
		}
		if err != nil || size != sectors*512 {
			t.Errorf("%s: %d bytes, %v, want %d sectors", name, size, err, sectors)
			continue
		}
		if n, err := disk.ReadAt(make([]byte, 512), 0); n != 512 {
			t.Errorf("%s: %d bytes are read, %v", name, n, err)
		}
		disk.Close()
		opened++
	}
	if opened == 0 {
		t.Skip("no disk of this machine may be opened")
	}
}

func TestWaitForDisk(t *testing.T) {
	for _, c := range []struct {
		name   string
		blocks []string
		known  []string
		// appears are the disks that come later.
		appears []string
		want    bool
	}{
		{"there from the beginning", []string{"vda"}, nil, nil, true},
		{"known, and another is there", []string{"vda", "vdb"}, []string{"vda"}, nil, true},
		{"known", []string{"vda"}, []string{"vda"}, nil, false},
		{"none", nil, nil, nil, false},
		{"comes later", []string{"vda"}, []string{"vda"}, []string{"sr0"}, true},
		{"comes when something else has", nil, nil, []string{"loop0", "tty9", "vdb"}, true},
		{"only something else comes", nil, nil, []string{"loop0"}, false},
		{"the kernel has it and no device file yet", []string{"!vdb"}, nil, nil, false},
	} {
		m, at := newBlocks(t, c.blocks...)
		ctx := hosttest.NewTimed(t)
		done := make(chan bool, 1)
		go func() { done <- m.WaitForDisk(ctx, c.known) }()
		for _, name := range c.appears {
			hosttest.Pause(500)
			addBlock(t, at, name)
			must(t, os.WriteFile(at("/dev/"+name), nil, 0o600))
		}
		if hosttest.Pause(500); !c.want {
			ctx.Over()
		}
		if got := <-done; got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// Without /dev, WaitForDisk returns at once.
func TestWaitForDiskWithoutDevices(t *testing.T) {
	tree, _ := newTree(t)
	if (&Machine{Tree: tree}).WaitForDisk(t.Context(), nil) {
		t.Error("there is a disk")
	}
}

// No disk of the running system is listed twice, and its root disk is not listed.
func TestDisksOfThisMachine(t *testing.T) {
	m, err := OpenMachine()
	must(t, err)
	defer m.Close()
	names, err := m.Disks()
	must(t, err)
	if sorted := slices.Sorted(slices.Values(names)); len(slices.Compact(sorted)) != len(names) {
		t.Errorf("%v", names)
	}
	blocks, _ := readDirIfAny(m.Tree, blockDir)
	for _, own := range rootDisk(m.Tree, blocks) {
		if slices.Contains(names, own) {
			t.Errorf("%s has the root file system, and is listed", own)
		}
	}
}
