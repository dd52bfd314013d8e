package host

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/systemd"
	"github.com/slipway-dev/slipway/test/hosttest"
)

func TestAttribute(t *testing.T) {
	m, at := newMachine(t, hosttest.NewBus())
	const path = "/sys/kernel/mm/transparent_hugepage/enabled"
	if _, err := m.Attribute(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing one: %v", err)
	}
	for content, want := range map[string]string{"always [madvise] never\n": "madvise", "4096\n": "4096", "a  b\n": "a b", "[always] madvise never\n": "always"} {
		write(t, at(path), content)
		if got, err := m.Attribute(path); err != nil || got != want {
			t.Errorf("%q is %q, %v", content, got, err)
		}
	}
	must(t, m.SetAttribute(path, "never"))
	if content, err := os.ReadFile(at(path)); err != nil || string(content) != "never\n" {
		t.Errorf("%q, %v", content, err)
	}
	wantError(t, m.SetAttribute("/sys/power/state", "mem"), "not below")
}

// running is a systemd that runs commands.
func running(t *testing.T) *hosttest.Bus {
	bus := hosttest.NewBus()
	bus.OnRun = func(commands [][]string) string {
		for _, argv := range commands {
			if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
				t.Logf("%s: %v: %s", argv, err, out)
				return "failed"
			}
		}
		return "done"
	}
	return bus
}

func TestMount(t *testing.T) {
	m, at := newMachine(t, running(t))
	mount := &resource.Mount{Where: "/var/lib/kubelet", What: "/mnt/data/kubelet"}
	mounted := func(want bool) {
		t.Helper()
		if got, err := m.Mounted(mount); err != nil || got != want {
			t.Errorf("mounted is %v, %v; want %v", got, err, want)
		}
	}
	mounted(false)
	if os.Geteuid() != 0 {
		t.Skip("who runs this may not mount")
	}
	must(t, m.Mount(t.Context(), mount))
	mounted(true)
	write(t, at("/var/lib/kubelet/file"), "x")
	if _, err := os.Stat(at("/mnt/data/kubelet/file")); err != nil {
		t.Error(err)
	}
	// An open file does not prevent the unmount.
	open, err := os.Open(at("/var/lib/kubelet/file"))
	must(t, err)
	defer open.Close()
	must(t, m.Unmount(t.Context(), mount))
	mounted(false)
	if _, err := os.Stat(at("/var/lib/kubelet/file")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still mounted: %v", err)
	}
	wantError(t, m.Unmount(t.Context(), mount), "unmount /var/lib/kubelet")

	// A mount on another disk than the required one is neither made nor accepted.
	mount.Disk = "/mnt/data"
	over, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, m.Mount(over, mount), "/var/lib/kubelet", "no disk is mounted at /mnt/data")
	must(t, m.Mount(t.Context(), &resource.Mount{Where: mount.Where, What: mount.What}))
	mounted(false)
	must(t, m.Unmount(t.Context(), mount))
	must(t, unix.Mount("tmpfs", at(mount.Disk), "tmpfs", 0, "size=64k"))
	defer func() { must(t, unix.Unmount(at(mount.Disk), unix.MNT_DETACH)) }()
	must(t, m.Mount(t.Context(), mount))
	mounted(true)
	must(t, m.Mount(t.Context(), mount)) // already mounted
	must(t, m.Unmount(t.Context(), mount))
	mounted(false)

	must(t, os.Symlink("/etc", at("/var/lib/link")))
	wantError(t, m.Mount(t.Context(), &resource.Mount{Where: "/var/lib/link", What: "/mnt/data"}), "/var/lib/link", "symlink")
	wantError(t, m.Mount(t.Context(), &resource.Mount{Where: "/etc/a", What: "/etc"}), "other programs")
}

func TestSwap(t *testing.T) {
	m, at := newMachine(t, hosttest.NewBus())
	swap := &resource.Swap{Path: "/mnt/swapfile", Bytes: 1 << 20}
	write(t, at("/proc/swaps"), "Filename\tType\tSize\tUsed\tPriority\n/dev/sda2 partition 1 0 -2\n")
	if there, err := m.SwapFile(swap); err != nil || there {
		t.Errorf("there: %v, %v", there, err)
	}
	for _, fill := range []bool{false, true} {
		must(t, m.Allocate(swap.Path, swapMode, swap.Bytes, swapHeader(swap.Bytes, os.Getpagesize()), fill))
		must(t, m.Sync())
		info, err := os.Stat(at(swap.Path))
		must(t, err)
		var stat unix.Stat_t
		must(t, unix.Stat(at(swap.Path), &stat))
		if info.Size() != swap.Bytes || info.Mode() != swapMode || stat.Blocks*512 < swap.Bytes {
			t.Errorf("fill %v: %v, %d bytes, %d blocks", fill, info.Mode(), info.Size(), stat.Blocks)
		}
		content, err := os.ReadFile(at(swap.Path))
		must(t, err)
		page := os.Getpagesize()
		if !bytes.Equal(content[page-10:page], []byte("SWAPSPACE2")) || binary.NativeEndian.Uint32(content[1024:]) != 1 ||
			binary.NativeEndian.Uint32(content[1028:]) != uint32(1<<20/page-1) || binary.NativeEndian.Uint32(content[1032:]) != 0 {
			t.Errorf("fill %v: the header is %x", fill, content[1024:1040])
		}
		if bytes.Count(content[page:], []byte{0}) != len(content)-page {
			t.Errorf("fill %v: the rest is not empty", fill)
		}
	}
	if on, err := m.Swapping(swap); err != nil || on {
		t.Errorf("it is in use before it is: %v, %v", on, err)
	}
	write(t, at("/proc/swaps"), "Filename\tType\tSize\tUsed\tPriority\n/mnt/swapfile file 1020 0 -2\n")
	if on, err := m.Swapping(swap); err != nil || !on {
		t.Errorf("in use: %v, %v", on, err)
	}
	larger := *swap
	larger.Bytes *= 2
	if on, err := m.Swapping(&larger); err != nil || on {
		t.Errorf("of another size: %v, %v", on, err)
	}
	write(t, at("/proc/swaps"), "")
	must(t, m.RemoveSwap(t.Context(), swap))
	if there, err := m.SwapFile(swap); err != nil || there {
		t.Errorf("removed: %v, %v", there, err)
	}
	err := m.MakeSwap(t.Context(), &resource.Swap{Path: "/mnt/swapfile", Bytes: 1900 << 20})
	wantError(t, err, "/mnt/swapfile", "has 2048 MiB free", "needs 1900 MiB", "204 MiB have to stay free")
	if failed, ok := errors.AsType[*apply.CheckError](err); !ok || failed.Cause != resource.CauseNoRoom || failed.Endpoint != "/mnt" {
		t.Errorf("the cause of %v is not known", err)
	}
	wantError(t, m.MakeSwap(t.Context(), &resource.Swap{Path: "/mnt/data", Bytes: 1 << 20}), "another name")
}

// systemd enables a swap file, because its mount namespace outlasts the agent's. If that fails, the file may have
// holes, and is then written completely.
func TestSwapThroughSystemd(t *testing.T) {
	bus := hosttest.NewBus()
	m, at := newMachine(t, bus)
	swap := &resource.Swap{Path: "/mnt/swapfile", Bytes: 1 << 20}
	write(t, at("/proc/swaps"), "")
	var ran []string
	results := []string{"failed", "done", "done"}
	bus.OnRun = func(commands [][]string) string {
		_, err := os.Stat(at(swap.Path))
		must(t, err)
		ran = append(ran, filepath.Base(commands[0][0])+strings.TrimPrefix(commands[0][1], at("")))
		return results[len(ran)-1]
	}
	must(t, m.MakeSwap(t.Context(), swap))
	write(t, at("/proc/swaps"), "/mnt/swapfile file 1020 0 -2\n")
	must(t, m.RemoveSwap(t.Context(), swap))
	if want := []string{"swapon/mnt/swapfile", "swapon/mnt/swapfile", "swapoff/mnt/swapfile"}; !slices.Equal(ran, want) {
		t.Errorf("got %v, want %v", ran, want)
	}
	write(t, at("/proc/swaps"), "")
	ran, results = nil, []string{"failed", "failed"}
	wantError(t, m.MakeSwap(t.Context(), swap), "swap file /mnt/swapfile", "failed")
	if there, err := m.SwapFile(swap); err != nil || there {
		t.Errorf("it is left: %v, %v", there, err)
	}
}

// A swap file on a separate disk is made when that disk is there, and an existing one is used: it is from an earlier
// boot of the machine. If swapon reports that it is busy, systemd was faster.
func TestSwapOnDisk(t *testing.T) {
	bus := hosttest.NewBus()
	m, at := newMachine(t, bus)
	swap := &resource.Swap{Path: "/mnt/swapfile", Disk: "/mnt", Bytes: 64 << 10}
	write(t, at("/proc/swaps"), "")
	must(t, os.Mkdir(at("/mnt"), 0o755))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, m.MakeSwap(ctx, swap), "swap file /mnt/swapfile", "no disk is mounted at /mnt")
	if there, err := m.SwapFile(swap); err != nil || there {
		t.Errorf("it is on the disk of the operating system: %v, %v", there, err)
	}
	if os.Getuid() != 0 {
		t.Skip("only the superuser mounts")
	}
	must(t, unix.Mount("tmpfs", at("/mnt"), "tmpfs", 0, "size=1m"))
	defer func() { must(t, unix.Unmount(at("/mnt"), unix.MNT_DETACH)) }()
	var ran []string
	answers := map[string]string{}
	bus.OnRun = func(commands [][]string) string {
		ran = append(ran, filepath.Base(commands[0][0]))
		if result := answers[ran[len(ran)-1]]; result != "" {
			write(t, at("/proc/swaps"), "/mnt/swapfile file 1020 0 -2\n")
			return result
		}
		return "done"
	}
	inode := func() uint64 {
		var stat unix.Stat_t
		must(t, unix.Stat(at(swap.Path), &stat))
		return stat.Ino
	}
	must(t, m.MakeSwap(t.Context(), swap))
	made := inode()
	must(t, m.MakeSwap(t.Context(), swap)) // after a boot
	answers["swapon"] = "failed"
	must(t, m.MakeSwap(t.Context(), swap)) // systemd was faster
	if on, err := m.Swapping(swap); err != nil || !on || inode() != made || !slices.Equal(ran, []string{"swapon", "swapon", "swapon"}) {
		t.Errorf("%v, %v, %v, made again: %v", on, err, ran, inode() != made)
	}
	must(t, unix.Mount("", at("/mnt"), "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	write(t, at("/proc/swaps"), "")
	wantError(t, m.MakeSwap(t.Context(), swap), "swap file /mnt/swapfile", "read-only")
}

func TestUnitFiles(t *testing.T) {
	conn := hosttest.NewBus()
	m, _ := newMachine(t, conn)
	conn.Put("a.service", map[string]any{"LoadState": "loaded", "ActiveState": "active", "UnitFileState": "enabled-runtime"})
	ctx := t.Context()
	if state, err := m.UnitState(ctx, "a.service"); err != nil || !state.Running() {
		t.Errorf("%+v, %v", state, err)
	}
	if enabled, err := m.UnitEnabled(ctx, "a.service"); err != nil || !enabled {
		t.Errorf("enabled: %v, %v", enabled, err)
	}
	must(t, m.MaskUnit(ctx, "a.service"))
	must(t, m.UnmaskUnit(ctx, "a.service"))
	must(t, m.EnableUnit(ctx, "a.service"))
	must(t, m.DisableUnit(ctx, "a.service"))
	want := "MaskUnitFiles a.service, Reload, UnmaskUnitFiles a.service, Reload, EnableUnitFiles a.service, Reload, DisableUnitFiles a.service, Reload"
	if got := strings.Join(conn.Seen(), ", "); got != want {
		t.Errorf("got %s", got)
	}
	wantError(t, m.MaskUnit(ctx, "../a"), "mask", "not a unit name")
	conn.Err = systemd.ErrMasked
	wantError(t, m.EnableUnit(ctx, "a.service"), "enable a.service", systemd.ErrMasked.Error())
}

// A directory answers from its record, also in the next run.
func TestDirectoryKinds(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	ctx := t.Context()
	const pages = "/sys/kernel/mm/transparent_hugepage/enabled"
	mount, swap := &resource.Mount{Where: "/var/lib/a", What: "/mnt/a"}, &resource.Swap{Path: "/mnt/swapfile", Bytes: 1 << 20}
	check := func(want bool) {
		t.Helper()
		d := openDirectory(t, root)
		value, err := d.Attribute(pages)
		must(t, err)
		mounted, err := d.Mounted(mount)
		must(t, err)
		swapping, err := d.Swapping(swap)
		must(t, err)
		there, err := d.SwapFile(swap)
		must(t, err)
		state, err := d.UnitState(ctx, "a.service")
		must(t, err)
		enabled, err := d.UnitEnabled(ctx, "a.service")
		must(t, err)
		if (value == "never") != want || mounted != want || swapping != want || there != want || (state.LoadState == "masked") != want || enabled == want {
			t.Errorf("want %v: %q, %v, %v, %v, %+v", want, value, mounted, swapping, there, state)
		}
	}
	check(false)
	d := openDirectory(t, root)
	must(t, d.SetAttribute(pages, "never"))
	must(t, d.Mount(ctx, mount))
	must(t, d.MakeSwap(ctx, swap))
	must(t, d.MaskUnit(ctx, "a.service"))
	must(t, d.DisableUnit(ctx, "a.service"))
	must(t, d.ReloadUnit(ctx, "b.service"))
	check(true)
	must(t, d.SetAttribute(pages, "always"))
	must(t, d.Unmount(ctx, mount))
	must(t, d.RemoveSwap(ctx, swap))
	must(t, d.UnmaskUnit(ctx, "a.service"))
	must(t, d.EnableUnit(ctx, "a.service"))
	check(false)
	content, err := os.ReadFile(root + actionsPath)
	must(t, err)
	want := `{"action":"attribute","key":"` + pages + `","value":"never"}
{"action":"mount","key":"/var/lib/a","value":"/mnt/a"}
{"action":"swapon","key":"/mnt/swapfile","value":"1048576"}
{"action":"mask","unit":"a.service"}
{"action":"disable","unit":"a.service"}
{"action":"reload","unit":"b.service"}
{"action":"attribute","key":"` + pages + `","value":"always"}
{"action":"unmount","key":"/var/lib/a"}
{"action":"swapoff","key":"/mnt/swapfile"}
{"action":"unmask","unit":"a.service"}
{"action":"enable","unit":"a.service"}
`
	if string(content) != want {
		t.Errorf("got %s", content)
	}
}

// A temporary disk that cannot hold a kubelet's data is refused with advice, before a kubelet fails on it.
func TestFitForData(t *testing.T) {
	for _, c := range []struct {
		kind     uint32
		readOnly bool
		want     string
	}{
		{unix.EXT4_SUPER_MAGIC, false, ""},
		{unix.XFS_SUPER_MAGIC, false, ""},
		{unix.EXT4_SUPER_MAGIC, true, "read-only"},
		{unix.MSDOS_SUPER_MAGIC, false, "vfat"},
		{0x7366746e, false, "ntfs3"},
		{unix.FUSE_SUPER_MAGIC, true, "FUSE"},
	} {
		switch err := fitForData("/mnt", c.kind, c.readOnly); {
		case c.want == "" && err != nil:
			t.Errorf("%x: %v", c.kind, err)
		case c.want != "":
			wantError(t, err, "/mnt", c.want)
		}
	}
	m, _ := newMachine(t, hosttest.NewBus())
	must(t, m.holdsData("/"))
	wantError(t, m.holdsData("/mnt/none"), "/mnt/none", "no such file")
}
