package facts

import (
	"fmt"
	"maps"
	"reflect"
	"testing"
)

func TestDisks(t *testing.T) {
	for _, c := range []struct {
		name  string
		disks []map[string]string
		want  []Disk
	}{
		{"none", nil, nil},
		{"by name", []map[string]string{disk("vdb", "2", true, false), disk("vda", "1", false, false)},
			[]Disk{{Name: "vda", SizeBytes: 512}, {Name: "vdb", SizeBytes: 1024, ReadOnly: true}}},
		{"a disc", []map[string]string{disk("sr0", "720", true, true)}, []Disk{{"sr0", 368640, true, true, false}}},
		{"a drive without one", []map[string]string{disk("sr0", "0", false, true)}, nil},
		{"of NVMe, by two paths", []map[string]string{disk("nvme0n1", "8", false, false), disk("nvme0c0n1", "8", false, false), disk("nvme0c1n1", "8", false, false)},
			[]Disk{{Name: "nvme0n1", SizeBytes: 4096}}},
		{"made of other things", []map[string]string{disk("loop0", "8", false, false), disk("ram0", "8", false, false), disk("zram0", "8", false, false),
			disk("dm-0", "8", false, false), disk("md127", "8", false, false), disk("nbd0", "8", false, false), disk("fd0", "8", false, true)}, nil},
		{"an invalid size", []map[string]string{disk("sda", "", false, false), disk("sdb", "-8", false, false), disk("sdc", "x", false, false)}, nil},
		{"a size that is too large", []map[string]string{disk("sda", "9223372036854775807", false, false), disk("sdb", "99999999999999999999", false, false)}, nil},
		{"the largest size", []map[string]string{disk("sda", "18014398509481983", false, false)}, []Disk{{Name: "sda", SizeBytes: 9223372036854775296}}},
		{"a name that cannot be shown", []map[string]string{disk("sd\x1b", "8", false, false)}, nil},
	} {
		files := map[string]string{}
		for _, d := range c.disks {
			maps.Copy(files, d)
		}
		if got := (gatherer{machine{files: files}}).disks(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// A temporary disk is recognized by its path on Hyper-V, before udev has named it, or by udev's name.
func TestTemporaryDisk(t *testing.T) {
	const vmbus = "../devices/LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/VMBUS:00/"
	for name, c := range map[string]struct {
		links map[string]string
		want  int64
	}{
		"none": {map[string]string{"/sys/block/sda": vmbus + "f8b3781a-1e82-4818-a1c3-63d806ec15bb/host0/target0:0:0/0:0:0:0/block/sda"}, 0},
		"of the first generation": {map[string]string{
			"/sys/block/sda": vmbus + "00000000-0001-8899-0000-000000000000/host1/target1:0:1/1:0:1:0/block/sda",
			"/sys/block/sdb": vmbus + "00000000-0000-8899-0000-000000000000/host0/target0:0:0/0:0:0:0/block/sdb",
		}, 512},
		"of the second generation": {map[string]string{
			"/sys/block/sda": vmbus + "f8b3781a-1e82-4818-a1c3-63d806ec15bb/host0/target0:0:0/0:0:0:0/block/sda",
			"/sys/block/sdb": vmbus + "f8b3781a-1e82-4818-a1c3-63d806ec15bb/host0/target0:0:0/0:0:0:1/block/sdb",
		}, 1024},
		"a disk of data": {map[string]string{
			"/sys/block/sdb": vmbus + "f8b3781b-1e82-4818-a1c3-63d806ec15bb/host1/target1:0:0/1:0:0:1/block/sdb",
		}, 0},
		"an optical drive": {map[string]string{
			"/sys/block/sr0": vmbus + "f8b3781a-1e82-4818-a1c3-63d806ec15bb/host0/target0:0:0/0:0:0:1/block/sr0",
		}, 0},
		"by its name":             {map[string]string{"/dev/disk/azure/resource": "../../sdb", "/sys/block/sdb": "../devices/pci0000:00/virtio1/block/sdb"}, 1024},
		"a name of another thing": {map[string]string{"/dev/disk/azure/resource": "../../nvme1n1"}, 0},
	} {
		m := azureNode()
		m.links = c.links
		for _, d := range []map[string]string{disk("sda", "1", false, false), disk("sdb", "2", false, false), disk("sr0", "720", true, true)} {
			maps.Copy(m.files, d)
		}
		if got := Gather(m).Temporary(); got != c.want {
			t.Errorf("%s: %d bytes", name, got)
		}
	}
}

// If there are more disks than the limit, the rest is not read, even if all are empty.
func TestDisksAreBounded(t *testing.T) {
	for _, sectors := range []string{"8", "0"} {
		files, reads := map[string]string{}, 0
		for i := range 1000 {
			maps.Copy(files, disk(fmt.Sprintf("sd%d", i), sectors, false, false))
		}
		got := gatherer{machine{files: files, reads: &reads}}.disks()
		if len(got) > maxDisks || reads > 3*maxDisks+1 {
			t.Errorf("%d disks, %d reads", len(got), reads)
		}
	}
}

func TestIsDisk(t *testing.T) {
	for name, want := range map[string]bool{
		"sda": true, "sda1": true, "vda15": true, "xvda": true, "sr0": true, "nvme0n1": true, "nvme0n1p1": true, "mmcblk0p1": true, "pmem0": true,
		"": false, "loop7": false, "ram0": false, "zram0": false, "dm-3": false, "md0": false, "nbd15": false, "fd0": false, "nvme0c0n1": false,
	} {
		if got := IsDisk(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
