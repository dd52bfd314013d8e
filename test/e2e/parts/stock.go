package parts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// stockPackages are those of Debian's own images for clouds (salsa.debian.org/cloud-team/debian-cloud-images, config_space, of bookworm), without
// the boot loader, and what the kubelet and containerd run.
var stockPackages = []string{
	"apparmor", "apt-utils", "bind9-host", "ca-certificates", "cloud-guest-utils", "cloud-init", "cloud-initramfs-growroot", "conntrack", "curl", "dbus",
	"e2fsprogs", "init", "initramfs-tools", "iproute2", "iptables", "iputils-ping", "kmod", "less", "libnss-myhostname", "libpam-systemd",
	"linux-image-cloud-amd64", "mount", "netbase", "netplan.io", "nftables", "openssh-client", "openssh-server", "polkitd", "procps", "python3",
	"screen", "socat", "sudo", "systemd", "systemd-resolved", "systemd-sysv", "systemd-timesyncd", "tcpdump", "udev", "unattended-upgrades", "uuid-runtime",
	"vim-tiny", "whiptail",
}

// stockFiles are files of these images.
var stockFiles = map[string]string{
	"etc/fstab":                   stockRoot + " / ext4 rw,discard,errors=remount-ro,x-systemd.growfs 0 1\n",
	"etc/machine-id":              "",
	"etc/netplan/90-default.yaml": "network: {version: 2, ethernets: {all-en: {match: {name: \"en*\"}, dhcp4: true, dhcp6: true}, all-eth: {match: {name: \"eth*\"}, dhcp4: true, dhcp6: true}}}\n",
}

const (
	// stockRoot is the root file system in a machine.
	stockRoot = "/dev/vda1"
	// stockArguments are the kernel's.
	stockArguments = "root=" + stockRoot + " ro"
)

// makeStock makes the disk of a distribution's usual image, in which slipway has baked the components of the lock: what a user has who
// does not build an image with "slipway image build".
func (s *Store) makeStock(ctx context.Context, dir, slipway string, in *imageInputs, contract string, env []string) error {
	tree, made := filepath.Join(dir, "tree"), filepath.Join(dir, "image", "output")
	if err := os.MkdirAll(made, 0o755); err != nil {
		return err
	}
	units, err := filepath.Glob(filepath.Join(s.Repo, "dist", "systemd", "slipway-*"))
	if err != nil {
		return err
	}
	steps := [][]string{
		{"mmdebstrap", "--variant=minbase", "--include=" + strings.Join(in.packages(), ","), in.Suite, tree, mirror},
		{slipway, "image", "bake", "--root", tree, "--architecture", "amd64"},
		{filepath.Join(tree, "opt/slipway/bin/slipway-node"), "provision", "--root", tree, "--provision-config", contract, "--log-level", "warn"},
		append([]string{"install", "-m", "0644", "-t", filepath.Join(tree, "usr/lib/systemd/system")}, units...),
		{"systemctl", "--root=" + tree, "--quiet", "enable", "slipway-provision.service", "slipway-provision.path", "slipway-watch.service"},
	}
	for _, argv := range steps {
		if err := run(ctx, dir, env, argv...); err != nil {
			return err
		}
	}
	for name, content := range stockFiles {
		if err := os.WriteFile(filepath.Join(tree, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	for from, to := range map[string]string{"vmlinuz-*": "vmlinuz", "initrd.img-*": "initrd"} {
		found, err := filepath.Glob(filepath.Join(tree, "boot", from))
		if err != nil || len(found) != 1 {
			return fmt.Errorf("want one file %s of the packages, not %q", from, found)
		}
		if err := os.Rename(found[0], Disk(dir, to)); err != nil {
			return err
		}
	}
	return errors.Join(writeStock(ctx, tree, Disk(dir, "raw")), os.WriteFile(Disk(dir, "cmdline"), []byte(stockArguments), 0o644))
}

// writeStock writes the disk: a partition with the root file system.
func writeStock(ctx context.Context, tree, disk string) error {
	const size = 4 << 30
	if err := os.WriteFile(disk, nil, 0o600); err != nil {
		return err
	}
	if err := os.Truncate(disk, size); err != nil {
		return err
	}
	if _, err := filter(ctx, tree, strings.NewReader("label: gpt\nstart=2048, type=L\n"), "sfdisk", "--quiet", disk); err != nil {
		return err
	}
	root, err := RootOf(ctx, disk)
	if err != nil {
		return err
	}
	return run(ctx, tree, nil, "mke2fs", "-q", "-t", "ext4", "-d", tree, "-E", fmt.Sprintf("offset=%d", root.Start), disk, fmt.Sprintf("%dk", root.Size>>10))
}
