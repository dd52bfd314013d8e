package mkosi

import (
	"embed"
	"io/fs"
	"path"

	"github.com/slipway-dev/slipway/dist"
)

// finalize is the script that mkosi runs when the tree is complete.
//
// The scripts that mkosi runs, and the initrd's first program.
var (
	//go:embed finalize.sh
	finalize []byte
	//go:embed initrd.sh
	makeInitrd []byte
	//go:embed init.sh
	initrdInit []byte
)

// tree has the files that every image has.
//
//go:embed all:tree
var tree embed.FS

// extra is the directory from which mkosi copies files into each image.
const extra = "mkosi.extra"

// Masked are units that a node does not need: each is a process at every boot, writes the kernel's audit messages into the journal, or
// changes a node that its contract describes. nftables.service flushes all rules when it starts, also kube-proxy's. systemd-boot's update
// and its random seed write to the boot partition at each boot; an image is not updated in place, and the kernel has the seed of
// systemd-random-seed.service. Masked units of packages that the image lacks do no harm.
var Masked = []string{
	"apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "e2scrub_reap.service",
	"getty@tty1.service", "serial-getty@ttyAMA0.service", "serial-getty@ttyS0.service", "nftables.service",
	"systemd-boot-random-seed.service", "systemd-boot-update.service", "systemd-journald-audit.socket",
	"modprobe@configfs.service", "modprobe@dm_mod.service", "modprobe@drm.service", "modprobe@efi_pstore.service", "modprobe@fuse.service",
	"modprobe@loop.service", "sys-fs-fuse-connections.mount", "sys-kernel-config.mount", "sys-kernel-debug.mount", "sys-kernel-tracing.mount",
	"systemd-firstboot.service", "systemd-pstore.service", "systemd-sysusers.service", "systemd-update-utmp.service",
	"systemd-update-utmp-runlevel.service",
}

// MaskedGenerators are systemd's generators that a disk with one file system does not need: each is a process before systemd loads the
// first unit (docs/images.md, "An image that boots fast").
var MaskedGenerators = []string{
	"systemd-cryptsetup-generator", "systemd-gpt-auto-generator", "systemd-hibernate-resume-generator",
	"systemd-integritysetup-generator", "systemd-rc-local-generator", "systemd-run-generator",
	"systemd-system-update-generator", "systemd-sysv-generator", "systemd-veritysetup-generator",
}

// everyImage are the files that every image has: those of the tree, and the agent's units.
func everyImage() (files []File, err error) {
	for _, from := range []struct {
		fs.FS
		dir, to string
	}{{tree, "tree", ""}, {dist.Units, "systemd", "usr/lib/systemd/system"}} {
		err := fs.WalkDir(from, from.dir, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := fs.ReadFile(from, name)
			files = append(files, File{Path: path.Join(extra, from.to, name[len(from.dir):]), Mode: 0o644, Content: content})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for _, unit := range Masked {
		files = append(files, File{Path: path.Join(extra, "etc/systemd/system", unit), Link: "/dev/null"})
	}
	for _, generator := range MaskedGenerators {
		files = append(files, File{Path: path.Join(extra, "etc/systemd/system-generators", generator), Link: "/dev/null"})
	}
	return files, nil
}
