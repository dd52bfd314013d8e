package host

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
)

// All interfaces of the test's machine are there with their addresses, except loopback.
func TestInterfaces(t *testing.T) {
	m, err := OpenMachine()
	must(t, err)
	defer m.Close()
	list, err := m.Interfaces()
	must(t, err)
	got := map[string]facts.Interface{}
	for _, i := range list {
		got[i.Name] = i
	}
	all, err := net.Interfaces()
	must(t, err)
	want := 0
	for _, i := range all {
		if i.Flags&net.FlagLoopback != 0 {
			continue
		}
		want++
		addresses, err := i.Addrs()
		must(t, err)
		var texts []string
		for _, a := range addresses {
			texts = append(texts, a.String())
		}
		own := got[i.Name]
		if own.MAC != i.HardwareAddr.String() || strings.Join(own.Addresses, " ") != strings.Join(texts, " ") {
			t.Errorf("%s: got %+v, want %v", i.Name, own, texts)
		}
	}
	if len(list) != min(want, facts.MaxInterfaces) {
		t.Errorf("%d interfaces, want %d", len(list), want)
	}
}

// Sysfs reports each of its files as one page long; their content is read nevertheless.
func TestGatherMachine(t *testing.T) {
	m, err := OpenMachine()
	must(t, err)
	defer m.Close()
	known := facts.Gather(m)
	if known.MemoryBytes == 0 || known.CPUs == 0 || known.Kernel == "" || known.BootID == "" {
		t.Errorf("%+v", known)
	}
	sizes := map[string]int64{}
	for _, d := range known.Disks {
		sizes[d.Name] = d.SizeBytes
	}
	names, err := os.ReadDir("/sys/block")
	if err != nil {
		t.Skip(err)
	}
	for _, entry := range names {
		content, _ := os.ReadFile("/sys/block/" + entry.Name() + "/size")
		sectors, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
		if err != nil || sectors == 0 || !facts.IsDisk(entry.Name()) {
			continue
		}
		if sizes[entry.Name()] != sectors*512 {
			t.Errorf("%s has %d bytes, want %d sectors", entry.Name(), sizes[entry.Name()], sectors)
		}
	}
	vendor, err := os.ReadFile("/sys/class/dmi/id/sys_vendor")
	if err == nil && known.DMI.SysVendor != strings.TrimSpace(string(vendor)) {
		t.Errorf("the vendor is %q, want %q", known.DMI.SysVendor, vendor)
	}
}

// A directory's facts are those of the files below it, not those of the machine that it is on.
func TestGatherDirectory(t *testing.T) {
	d, err := OpenDirectory(t.TempDir())
	must(t, err)
	defer d.Close()
	bare := facts.Gather(d)
	if bare.Disks != nil || bare.Interfaces != nil || bare.Routes != nil || bare.BootID != "" || bare.MachineID != "" || bare.CgroupVersion != 0 || bare.DMI != (facts.DMI{}) {
		t.Errorf("an empty directory has %+v", bare)
	}

	for path, content := range map[string]string{
		"/sys/devices/virtual/dmi/id/sys_vendor": "Amazon EC2\n",
		"/sys/devices/pci0/block/vda/size":       "2048\n",
		"/etc/machine-id":                        "0f3a5b7c9d1e4f60a1b2c3d4e5f60718\n",
		"/usr/bin/cloud-init":                    "",
	} {
		full := d.Root() + path
		must(t, os.MkdirAll(full[:strings.LastIndex(full, "/")], 0o755))
		must(t, os.WriteFile(full, []byte(content), 0o600))
	}
	for link, target := range map[string]string{
		"/sys/class/dmi/id": "../../devices/virtual/dmi/id", "/sys/block/vda": "../devices/pci0/block/vda",
	} {
		full := d.Root() + link
		must(t, os.MkdirAll(full[:strings.LastIndex(full, "/")], 0o755))
		must(t, os.Symlink(target, full))
	}
	known := facts.Gather(d)
	if known.Platform != facts.EC2 || len(known.Disks) != 1 || known.Disks[0].SizeBytes != 1<<20 || known.MachineID == "" || !known.CloudInit {
		t.Errorf("%+v", known)
	}
}

// BenchmarkGather is one pass over the machine that it runs on.
func BenchmarkGather(b *testing.B) {
	m, err := OpenMachine()
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	b.ReportAllocs()
	for b.Loop() {
		facts.Gather(m)
	}
}
