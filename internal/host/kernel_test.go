package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/rootfs"
	"github.com/slipway-dev/slipway/internal/systemd"
	"github.com/slipway-dev/slipway/test/hosttest"
)

// newTree opens a tree in a new directory, and returns a function that returns paths in it.
func newTree(t *testing.T) (*rootfs.Tree, func(string) string) {
	t.Helper()
	tree, err := rootfs.Open(t.TempDir())
	must(t, err)
	t.Cleanup(func() { tree.Close() })
	return tree, func(path string) string { return filepath.Join(tree.Root(), path) }
}

// newMachine is a machine with its files below a new directory, and conn as its systemd.
func newMachine(t *testing.T, conn systemd.Bus) (*Machine, func(string) string) {
	t.Helper()
	tree, at := newTree(t)
	return &Machine{Tree: tree, Manager: hosttest.Systemd(conn), statfs: halfEmpty}, at
}

// halfEmpty is statfs(2) for a file system of 4 GiB that is half free, whatever the test's file system has.
func halfEmpty(path string, about *unix.Statfs_t) error {
	err := unix.Statfs(path, about)
	about.Bsize, about.Blocks, about.Bavail = 4096, 1<<20, 1<<19
	return err
}

func write(t *testing.T, path, content string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(content), 0o644))
}

func TestSysctlPath(t *testing.T) {
	for key, want := range map[string]string{
		"vm.overcommit_memory":              "vm/overcommit_memory",
		"net/ipv4/ip_forward":               "net/ipv4/ip_forward",
		"net/ipv4/conf/eth0.100/forwarding": "net/ipv4/conf/eth0.100/forwarding",
		"net.ipv4.conf.eth0/100.forwarding": "net/ipv4/conf/eth0.100/forwarding",
		"plain":                             "plain",
	} {
		if got, err := sysctlPath(key); err != nil || got != "/proc/sys/"+want {
			t.Errorf("%q: got %q, %v", key, got, err)
		}
	}
	for _, key := range []string{"", ".", "..", "a..b", "/a", "a/", "a.", "../../etc/passwd", "a/../../x", "a//b", "a\x00", "kernel...x"} {
		if got, err := sysctlPath(key); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: got %q, %v, want it refused", key, got, err)
		}
	}
}

func TestSysctl(t *testing.T) {
	m, at := newMachine(t, nil)
	write(t, at("proc/sys/net/ipv4/ip_local_port_range"), "32768\t60999\n")
	if got, err := m.Sysctl("net.ipv4.ip_local_port_range"); err != nil || got != "32768 60999" {
		t.Errorf("got %q, %v", got, err)
	}
	must(t, m.SetSysctl("net.ipv4.ip_local_port_range", " 1024  2048 "))
	if got, _ := os.ReadFile(at("proc/sys/net/ipv4/ip_local_port_range")); string(got) != "1024 2048\n" {
		t.Errorf("got %q", got)
	}
	_, err := m.Sysctl("net.missing")
	setErr := m.SetSysctl("net.missing", "1")
	for _, err := range []error{err, setErr} {
		wantError(t, err, "sysctl net.missing", "/proc/sys/net/missing")
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v is not fs.ErrNotExist", err)
		}
	}
	wantError(t, m.SetSysctl("net.ipv4", "1"), "sysctl net.ipv4", "a directory")
}

func TestSysctlOfThisKernel(t *testing.T) {
	m, err := OpenMachine()
	must(t, err)
	defer m.Close()
	value, err := m.Sysctl("kernel.ostype")
	if err != nil || value != "Linux" {
		t.Errorf("got %q, %v", value, err)
	}
	if err := m.SetSysctl("kernel.ostype", "Other"); err == nil {
		t.Error("a read-only parameter was set")
	}
}

func TestModuleLoaded(t *testing.T) {
	m, at := newMachine(t, nil)
	write(t, at("proc/sys/kernel/osrelease"), "6.1.0-test\n")
	must(t, os.MkdirAll(at("sys/module/br_netfilter"), 0o755))
	check := func(want map[string]bool) {
		t.Helper()
		for module, want := range want {
			if got, err := m.ModuleLoaded(module); err != nil || got != want {
				t.Errorf("%s: got %v, %v, want %v", module, got, err, want)
			}
		}
	}
	check(map[string]bool{"br_netfilter": true, "br-netfilter": true, "overlay": false, "nf-conntrack": false})
	must(t, os.Symlink("usr/lib", at("lib")))
	write(t, at("usr/lib/modules/6.1.0-test/modules.builtin"), "kernel/fs/overlayfs/overlay.ko\nkernel/net/netfilter/nf-conntrack.ko\n")
	check(map[string]bool{"br_netfilter": true, "overlay": true, "nf_conntrack": true, "overl": false, "ko": false})
	for _, module := range []string{"", "../x", "a.b", "a b", "a/b"} {
		if _, err := m.ModuleLoaded(module); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: %v, want it refused", module, err)
		}
		if err := m.LoadModule(t.Context(), module); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("loading %q: %v, want it refused", module, err)
		}
	}
}

func TestLoadModuleFails(t *testing.T) {
	m, _ := newMachine(t, nil)
	wantError(t, m.LoadModule(t.Context(), "slipway_no_such_module"), "load module slipway_no_such_module", "modprobe")
}
