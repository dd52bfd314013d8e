package parts

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// initrdModules are loaded before the root file system is mounted, in this order: the disks, the file systems of a cloud's seed,
// because cloud-init looks for it before udev loads anything, and the network's interface, as in the images of distributions
// (initramfs.conf(5), MODULES=most): udev's coldplug comes to its driver late (docs/boot.md, "The network").
var initrdModules = []string{
	"virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci", "virtio_blk",
	"cdrom", "isofs", "crc-itu-t", "udf", "failover", "net_failover", "virtio_net",
}

// initrdScript is the initrd's own init. If the disk is unreadable, it prints "no root" on the console, which the test looks for.
// With E2E_HOLD it first prints "held" and waits for the time of day on the second serial port: the test saves the machine in that
// state, and continues it with another disk.
const initrdScript = `#!/bin/busybox sh
/bin/busybox mount -t devtmpfs dev /dev
if [ "$E2E_HOLD" ]; then
	echo "e2e: held"
	read now </dev/ttyS1
	/bin/busybox date -s "@$now" >/dev/null
	unset E2E_HOLD
fi
for m in $(/bin/busybox cat /modules/order); do /bin/busybox insmod /modules/$m; done
/bin/busybox mount -t ext4 -o rw /dev/vda /root || { echo "e2e: no root"; /bin/busybox poweroff -f; }
/bin/busybox mount --move /dev /root/dev
exec /bin/busybox switch_root /root /lib/systemd/systemd "$@"
`

// Initrd returns a directory with the initial RAM disk, initrd.
func (s *Store) Initrd(ctx context.Context) (string, error) {
	kernel, err := s.Kernel(ctx)
	if err != nil {
		return "", err
	}
	return s.part(ctx, recipe{
		name:   "initrd",
		inputs: append([]string{"2", kernel, initrdScript}, initrdModules...),
		make: func(ctx context.Context, dir string) error {
			tree := filepath.Join(dir, "tree")
			if err := fillInitrd(kernel, tree); err != nil {
				return err
			}
			cpio := exec.CommandContext(ctx, "cpio", "-o", "-H", "newc", "--quiet", "-O", filepath.Join(dir, "initrd"))
			cpio.Dir = tree
			cpio.Stdin = strings.NewReader(".\ninit\nbin\nbin/busybox\ndev\nroot\nmodules\n" + moduleList(tree))
			if out, err := cpio.CombinedOutput(); err != nil {
				return fmt.Errorf("cpio: %w: %s", err, out)
			}
			return os.RemoveAll(tree)
		},
	})
}

func moduleList(tree string) string {
	entries, _ := os.ReadDir(filepath.Join(tree, "modules"))
	var b strings.Builder
	for _, e := range entries {
		b.WriteString("modules/" + e.Name() + "\n")
	}
	return b.String()
}

// fillInitrd writes the initrd's files.
func fillInitrd(kernel, tree string) error {
	for _, dir := range []string{"bin", "dev", "root", "modules"} {
		if err := os.MkdirAll(filepath.Join(tree, dir), 0o755); err != nil {
			return err
		}
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return err
	}
	if err := copyFile(busybox, filepath.Join(tree, "bin", "busybox"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tree, "init"), []byte(initrdScript), 0o755); err != nil {
		return err
	}
	found := map[string]string{}
	err = filepath.WalkDir(filepath.Join(kernel, "modules"), func(path string, d fs.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(filepath.Base(path), ".ko"); ok && err == nil {
			found[name] = path
		}
		return err
	})
	if err != nil {
		return err
	}
	var order strings.Builder
	for _, name := range initrdModules {
		path, ok := found[name]
		if !ok {
			continue // built into this kernel
		}
		fmt.Fprintf(&order, "%s.ko\n", name)
		if err := copyFile(path, filepath.Join(tree, "modules", name+".ko"), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(tree, "modules", "order"), []byte(order.String()), 0o644)
}

// copyFile copies a file, and replaces an existing one.
func copyFile(from, to string, mode fs.FileMode) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(to, content, mode); err != nil {
		return err
	}
	return os.Chmod(to, mode)
}
