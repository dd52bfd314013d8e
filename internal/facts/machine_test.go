package facts

import (
	"encoding/json"
	"maps"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
)

// azureNode has the files of an Azure virtual machine with a root disk, a temporary one and an empty drive.
func azureNode() machine {
	files := map[string]string{
		"/etc/os-release":     "NAME=\"Ubuntu\"\nID=ubuntu\nVERSION_ID=\"24.04\"\n",
		"/usr/lib/os-release": "ID=other\n",
		"/etc/machine-id":     "0f3a5b7c9d1e4f60a1b2c3d4e5f60718\n",
		"/bin/bash":           "program",
		"/etc/systemd/system/sysinit.target.wants/systemd-resolved.service": "",
		"/opt/cni/bin/loopback":               "program",
		"/proc/sys/kernel/random/boot_id":     "3b2c1d0e-4f5a-4b6c-8d7e-9f0a1b2c3d4e\n",
		"/proc/sys/kernel/osrelease":          "6.8.0-1030-azure\n",
		"/proc/sys/kernel/hostname":           "node-1\n",
		"/proc/meminfo":                       "MemTotal:       16384000 kB\nMemFree:         1 kB\n",
		"/proc/cmdline":                       "BOOT_IMAGE=/boot/vmlinuz root=PARTUUID=1 console=ttyS0 secret=hunter2\n",
		"/proc/net/route":                     ipv4Routes,
		"/proc/net/ipv6_route":                ipv6Routes,
		"/sys/fs/cgroup/cgroup.controllers":   "cpu memory\n",
		"/sys/class/dmi/id/sys_vendor":        "Microsoft Corporation\n",
		"/sys/class/dmi/id/product_name":      "Virtual Machine\n",
		"/sys/class/dmi/id/product_version":   "Hyper-V UEFI Release v4.1\n",
		"/sys/class/dmi/id/product_uuid":      "5a1b2c3d-0000-4000-8000-00155d010203\n",
		"/sys/class/dmi/id/product_serial":    "0000-0015-8394-7216-1234-5678-90\n",
		"/sys/class/dmi/id/chassis_asset_tag": "7783-7084-3265-9085-8269-3286-77\n",
		"/sys/class/dmi/id/board_asset_tag":   "None\n",
		"/sys/class/dmi/id/bios_vendor":       "Microsoft Corporation\n",
		"/usr/bin/cloud-init":                 "#!/usr/bin/python3\n",
		"/usr/sbin/waagent":                   "#!/usr/bin/python3\n",
		"/opt/bin/kubelet-1.34.2":             "",
		"/opt/bin/kubelet-1.33.5":             "",
		"/opt/bin/kubelet-":                   "",
		"/opt/bin/kubelet":                    "",
		"/opt/bin/kubectl-1.34.2":             "",
	}
	files["/usr/lib/systemd/system/apt-daily.timer"] = ""
	maps.Copy(files, disk("sda", "62914560", false, false))
	maps.Copy(files, disk("sdb", "33554432", false, false))
	maps.Copy(files, disk("sr0", "0", false, true))
	return machine{
		files:     files,
		binaries:  map[string]*debug.BuildInfo{"/usr/bin/containerd": built(containerdPath, "v2.2.4")},
		addresses: []string{"fe80::1", "10.224.0.4", "fd00::4"},
		interfaces: []Interface{
			{Name: "eth0", MAC: "00:0d:3a:01:02:03", Addresses: []string{"10.224.0.4/16", "fd00::4/64", "fe80::1/64"}},
			{Name: "veth12345678", MAC: "aa:bb:cc:dd:ee:ff", Addresses: []string{"fe80::2/64"}},
		},
	}
}

// disk is a disk in sysfs with a number of sectors.
func disk(name, sectors string, readOnly, removable bool) map[string]string {
	flag := map[bool]string{false: "0\n", true: "1\n"}
	return map[string]string{
		"/sys/block/" + name + "/size":      sectors + "\n",
		"/sys/block/" + name + "/ro":        flag[readOnly],
		"/sys/block/" + name + "/removable": flag[removable],
	}
}

func TestGather(t *testing.T) {
	want := Facts{
		OS: OS{ID: "ubuntu", VersionID: "24.04"}, Architecture: runtime.GOARCH, Kernel: "6.8.0-1030-azure", Hostname: "node-1",
		CPUs: runtime.NumCPU(), MemoryBytes: 16384000 << 10, CgroupVersion: 2,
		MachineID: "0f3a5b7c9d1e4f60a1b2c3d4e5f60718", BootID: "3b2c1d0e-4f5a-4b6c-8d7e-9f0a1b2c3d4e",
		Platform: Azure,
		DMI: DMI{
			SysVendor: "Microsoft Corporation", ProductName: "Virtual Machine", ProductVersion: "Hyper-V UEFI Release v4.1",
			ProductUUID: "5a1b2c3d-0000-4000-8000-00155d010203", ProductSerial: "0000-0015-8394-7216-1234-5678-90",
			ChassisAssetTag: "7783-7084-3265-9085-8269-3286-77", BoardAssetTag: "None", BIOSVendor: "Microsoft Corporation",
		},
		Disks:      []Disk{{Name: "sda", SizeBytes: 30 << 30}, {Name: "sdb", SizeBytes: 16 << 30}},
		NodeIPs:    []string{"10.224.0.4", "fd00::4"},
		Resolved:   new(true),
		Interfaces: []Interface{{Name: "eth0", MAC: "00:0d:3a:01:02:03", Addresses: []string{"10.224.0.4/16", "fd00::4/64"}}},
		Routes: []Route{
			{Family: "ipv4", Gateway: "10.224.0.1", Interface: "eth0", Metric: 100},
			{Family: "ipv6", Gateway: "fe80::1234:5678:9abc", Interface: "eth0", Metric: 1024},
		},
		CloudInit: true, GuestAgent: true,
		CNI: &CNI{Plugins: []string{"loopback"}},
		Components: []components.Component{
			{Name: "kubelet", Version: "1.33.5", Path: "/opt/bin/kubelet-1.33.5"},
			{Name: "kubelet", Version: "1.34.2", Path: "/opt/bin/kubelet-1.34.2"},
			{Name: "containerd", Version: "2.2.4", Path: "/usr/bin/containerd"},
		},
	}
	got := Gather(azureNode())
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}

	// The facts stay the same when they are recorded and read back, except for what only the superuser can read.
	recorded, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{want.DMI.ProductSerial, want.DMI.ProductUUID, "hunter2"} {
		if strings.Contains(string(recorded), secret) {
			t.Errorf("%s is recorded", secret)
		}
	}
	want.DMI.ProductSerial, want.DMI.ProductUUID = "", ""
	if back, err := Parse(recorded); err != nil || !reflect.DeepEqual(back, want) {
		t.Errorf("read back: %+v, %v", back, err)
	}
}

// A machine without a shell has the fact NoBash, and one without the timer of its distribution's updates NoUpdater; a directory that is
// not a machine has neither.
func TestGatherMissing(t *testing.T) {
	m := azureNode()
	delete(m.files, Bash)
	delete(m.files, "/usr/lib/systemd/system/apt-daily.timer")
	if f := Gather(m); !f.NoBash || !f.NoUpdater {
		t.Errorf("the machine has a shell: %v, an updater: %v", !f.NoBash, !f.NoUpdater)
	}
	m.files["/etc/os-release"] = "ID=flatcar\n"
	if Gather(m).NoUpdater {
		t.Error("a distribution without such timers lacks one")
	}
	if f := Gather(machine{}); f.NoBash || f.NoUpdater {
		t.Errorf("a directory lacks a shell: %v, an updater: %v", f.NoBash, f.NoUpdater)
	}
}

// Under an emulator each read costs a third of a millisecond, in the boot path of a node.
func TestGatherIsFrugal(t *testing.T) {
	m, reads := azureNode(), 0
	m.reads = &reads
	Gather(m)
	if reads == 0 || reads > 65 {
		t.Errorf("the machine is asked %d times", reads)
	}
	bare := 0
	Gather(machine{reads: &bare})
	if bare == 0 || bare > 41 {
		t.Errorf("a machine that has nothing is asked %d times", bare)
	}
}

func BenchmarkGather(b *testing.B) {
	m := azureNode()
	b.ReportAllocs()
	for b.Loop() {
		Gather(m)
	}
}
