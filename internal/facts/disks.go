package facts

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Disk is a whole disk of the machine.
type Disk struct {
	// Name is the kernel's: "sda", "nvme0n1", "sr0".
	Name string `json:"name"`
	// SizeBytes is greater than 0: a drive without a medium is no disk.
	SizeBytes int64 `json:"sizeBytes,omitempty"`
	ReadOnly  bool  `json:"readOnly,omitempty"`
	Removable bool  `json:"removable,omitempty"`
	// Temporary says that the disk is the cloud's, and empty after the machine was stopped or has moved to another host. That is
	// looked for on Azure alone.
	Temporary bool `json:"temporary,omitempty"`
}

// Temporary returns the size of the machine's temporary disk in bytes, or 0 where it has none.
func (f Facts) Temporary() int64 {
	for _, d := range f.Disks {
		if d.Temporary {
			return d.SizeBytes
		}
	}
	return 0
}

// maxDisks bounds how many disks are looked at.
const maxDisks = 64

// maxNumber bounds a number that is read from sysfs, in bytes.
const maxNumber = 32

// sectorSize is the unit of a disk's size in sysfs, whatever the disk's own sectors are
// (Documentation/ABI/stable/sysfs-block, /sys/block/<disk>/size).
const sectorSize = 512

// blockDir has the disks without their partitions; /sys/class/block has both, and would take one more look at
// each.
const blockDir = "/sys/block"

// notDisks are what the names of block devices begin with that are no disks of the machine's own: made of
// memory, files, the network or other disks. A floppy drive is one that answers after seconds, if at all.
// Source: Documentation/admin-guide/devices.txt.
var notDisks = []string{"loop", "ram", "zram", "nbd", "dm-", "md", "fd"}

// IsDisk reports, by the name of a block device, whether it is a disk of the machine's own, or a partition of
// one.
func IsDisk(name string) bool {
	other := slices.ContainsFunc(notDisks, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	return name != "" && !other && !hiddenPath(name)
}

// hiddenPath is for one of the paths to a disk of NVMe, "nvme0c1n1", which has no device file; the disk itself
// is "nvme0n1" (drivers/nvme/host/multipath.c).
func hiddenPath(name string) bool {
	rest, nvme := strings.CutPrefix(name, "nvme")
	return nvme && strings.Contains(rest, "c")
}

// disks lists the disks with three reads each.
func (g gatherer) disks() []Disk {
	names, _ := g.ReadDir(blockDir)
	var disks []Disk
	looked := 0
	for _, name := range names {
		if !IsDisk(name) || printable(name) != name {
			continue
		}
		if looked++; looked > maxDisks {
			break
		}
		sectors := g.number(name, "size")
		if sectors == 0 || sectors > math.MaxInt64/sectorSize {
			continue
		}
		disks = append(disks, Disk{
			Name: name, SizeBytes: sectors * sectorSize,
			ReadOnly: g.number(name, "ro") == 1, Removable: g.number(name, "removable") == 1,
		})
	}
	return disks
}

// Where a temporary disk of Azure is among the devices (WALinuxAgent and azure-vm-utils: their rules of udev). In the first
// generation of machines it has a channel of Hyper-V for itself, in the second it is the second one on the first controller.
const (
	temporaryChannel = "00000000-0001-"
	firstController  = "f8b3781a-1e82-4818-a1c3-63d806ec15bb"
	secondDisk       = ":1"
	// temporaryLink is the name that those rules give the disk.
	temporaryLink = "/dev/disk/azure/resource"
)

// markTemporary finds the temporary disk by where the kernel has it, because the rules of udev may not have been run yet, and
// else by its name.
func (g gatherer) markTemporary(disks []Disk) {
	named := path.Base(g.Link(temporaryLink))
	for i := range disks {
		d := &disks[i]
		d.Temporary = d.Name == named || !d.Removable && isTemporary(g.Link(blockDir+"/"+d.Name))
	}
}

// isTemporary reports whether a device is a temporary disk, by its path in sysfs, such as
// ../devices/.../f8b3781a-1e82-4818-a1c3-63d806ec15bb/host0/target0:0:0/0:0:0:1/block/sdb.
func isTemporary(device string) bool {
	elements := strings.Split(device, "/")
	if slices.ContainsFunc(elements, func(e string) bool { return strings.HasPrefix(e, temporaryChannel) }) {
		return true
	}
	at := slices.Index(elements, "block")
	return at > 0 && strings.HasSuffix(elements[at-1], secondDisk) && slices.Contains(elements, firstController)
}

// number reads a number of a disk's, 0 where there is none.
func (g gatherer) number(disk, name string) int64 {
	n, err := strconv.ParseInt(g.attribute(blockDir+"/"+disk+"/"+name, maxNumber), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
