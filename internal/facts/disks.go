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
	// Name is the kernel's name: "sda", "nvme0n1", "sr0".
	Name string `json:"name"`
	// SizeBytes is greater than 0: a drive without a medium is not listed.
	SizeBytes int64 `json:"sizeBytes,omitempty"`
	ReadOnly  bool  `json:"readOnly,omitempty"`
	Removable bool  `json:"removable,omitempty"`
	// Temporary reports whether the disk is the cloud's temporary one, which is empty after the machine was stopped or
	// has moved to another host. Only Azure machines are checked.
	Temporary bool `json:"temporary,omitempty"`
}

// Temporary returns the size of the machine's temporary disk in bytes, or 0.
func (f Facts) Temporary() int64 {
	for _, d := range f.Disks {
		if d.Temporary {
			return d.SizeBytes
		}
	}
	return 0
}

// maxDisks limits the number of disks.
const maxDisks = 64

// maxNumber limits a number that is read from sysfs, in bytes.
const maxNumber = 32

// sectorSize is the unit of a disk's size in sysfs, which does not depend on the disk's sectors
// (Documentation/ABI/stable/sysfs-block, /sys/block/<disk>/size).
const sectorSize = 512

// blockDir has the disks without their partitions. /sys/class/block has both, and would need another look at each.
const blockDir = "/sys/block"

// notDisks are the name prefixes of block devices that are not the machine's disks: they consist of memory, files, the
// network or other disks. A floppy drive may answer only after seconds, or never. Source:
// Documentation/admin-guide/devices.txt.
var notDisks = []string{"loop", "ram", "zram", "nbd", "dm-", "md", "fd"}

// IsDisk reports, by a block device's name, whether it is a disk of the machine, or a partition of one.
func IsDisk(name string) bool {
	other := slices.ContainsFunc(notDisks, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	return name != "" && !other && !hiddenPath(name)
}

// hiddenPath reports whether a device is one of the paths to an NVMe disk, "nvme0c1n1", which has no device file; the
// disk itself is "nvme0n1" (drivers/nvme/host/multipath.c).
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

// The device path of a temporary Azure disk (WALinuxAgent and azure-vm-utils: their udev rules). In generation 1
// machines it has a separate Hyper-V channel, in generation 2 it is the second disk on the first controller.
const (
	temporaryChannel = "00000000-0001-"
	firstController  = "f8b3781a-1e82-4818-a1c3-63d806ec15bb"
	secondDisk       = ":1"
	// temporaryLink is the link that those rules create for the disk.
	temporaryLink = "/dev/disk/azure/resource"
)

// markTemporary finds the temporary disk by its kernel device path, because the udev rules may not have run yet, and
// otherwise by its link.
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

// number reads a number of a disk, or 0.
func (g gatherer) number(disk, name string) int64 {
	n, err := strconv.ParseInt(g.attribute(blockDir+"/"+disk+"/"+name, maxNumber), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
