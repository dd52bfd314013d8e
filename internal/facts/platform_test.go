package facts

import (
	"maps"
	"strings"
	"testing"
)

// The strings are those of real machines, except serial numbers.
func TestPlatform(t *testing.T) {
	const tag = "7783-7084-3265-9085-8269-3286-77"
	const xen = "ec2cefac-dce1-eed5-4e48-83ad3ef51bfb"
	for _, c := range []struct {
		name string
		dmi  DMI
		want string
	}{
		{"Azure, generation 1", DMI{SysVendor: "Microsoft Corporation", ProductName: "Virtual Machine", ProductVersion: "7.0", ChassisAssetTag: tag, BIOSVendor: "American Megatrends Inc."}, Azure},
		{"Azure, generation 2", DMI{SysVendor: "Microsoft Corporation", ProductName: "Virtual Machine", ProductVersion: "Hyper-V UEFI Release v4.1", ChassisAssetTag: tag, BIOSVendor: "Microsoft Corporation"}, Azure},
		{"Hyper-V", DMI{SysVendor: "Microsoft Corporation", ProductName: "Virtual Machine", ProductVersion: "Hyper-V UEFI Release v4.1", ChassisAssetTag: "4713-9871-1224-1412-5481-3294-15", BIOSVendor: "Microsoft Corporation"}, ""},
		{"EC2, Nitro", DMI{SysVendor: "Amazon EC2", ProductName: "m5.large", ProductUUID: xen, ProductSerial: xen, ChassisAssetTag: "Amazon EC2", BoardAssetTag: "i-0123456789abcdef0", BIOSVendor: "Amazon EC2"}, EC2},
		{"EC2, Nitro, seen by anybody", DMI{SysVendor: "Amazon EC2", ProductName: "t4g.small", BIOSVendor: "Amazon EC2"}, EC2},
		{"EC2, Xen", DMI{SysVendor: "Xen", ProductName: "HVM domU", ProductVersion: "4.2.amazon", ProductUUID: strings.ToUpper(xen), ProductSerial: xen, BIOSVendor: "Xen"}, EC2},
		{"Xen, elsewhere", DMI{SysVendor: "Xen", ProductName: "HVM domU", ProductVersion: "4.2", ProductUUID: "7f1c0d1e-0000-4000-8000-000000000001", ProductSerial: "7f1c0d1e-0000-4000-8000-000000000001", BIOSVendor: "Xen"}, ""},
		{"a UUID that begins like EC2's by chance", DMI{SysVendor: "QEMU", ProductName: "Standard PC (Q35 + ICH9, 2009)", ProductUUID: xen, ProductSerial: "1234"}, ""},
		{"the same without a serial number", DMI{SysVendor: "QEMU", ProductName: "Standard PC (Q35 + ICH9, 2009)", ProductUUID: xen}, ""},
		{"OpenStack Nova", DMI{SysVendor: "OpenStack Foundation", ProductName: "OpenStack Nova", ProductVersion: "20.6.1", BIOSVendor: "SeaBIOS"}, OpenStack},
		{"OpenStack, RDO", DMI{SysVendor: "Red Hat", ProductName: "OpenStack Compute", ProductVersion: "14.0.3-8.el7ost", BIOSVendor: "Seabios"}, OpenStack},
		{"Open Telekom Cloud", DMI{SysVendor: "Xen", ProductName: "HVM domU", ChassisAssetTag: "OpenTelekomCloud", BIOSVendor: "Xen"}, OpenStack},
		{"SAP Converged Cloud", DMI{SysVendor: "VMware, Inc.", ProductName: "VMware Virtual Platform", ChassisAssetTag: "SAP CCloud VM", BIOSVendor: "Phoenix Technologies LTD"}, OpenStack},
		{"Huawei Cloud", DMI{SysVendor: "OpenStack Foundation", ProductName: "OpenStack Nova", ChassisAssetTag: "HUAWEICLOUD", BIOSVendor: "SeaBIOS"}, OpenStack},
		{"OpenStack by its tag", DMI{SysVendor: "QEMU", ProductName: "Standard PC (i440FX + PIIX, 1996)", ChassisAssetTag: "OpenStack Nova"}, OpenStack},
		{"Compute Engine", DMI{SysVendor: "Google", ProductName: "Google Compute Engine", ProductSerial: "GoogleCloud-0123456789ABCDEF0123456789ABCDEF", BIOSVendor: "Google"}, GCE},
		{"Compute Engine by its serial number", DMI{SysVendor: "Google", ProductName: "Google", ProductSerial: "GoogleCloud-0123456789ABCDEF0123456789ABCDEF"}, GCE},
		{"NoCloud", DMI{SysVendor: "QEMU", ProductName: "Standard PC (Q35 + ICH9, 2009)", ProductSerial: "ds=nocloud"}, NoCloud},
		{"NoCloud with a seed", DMI{SysVendor: "QEMU", ProductName: "Standard PC (Q35 + ICH9, 2009)", ProductSerial: "ds=nocloud;s=http://10.0.0.1:8000/"}, NoCloud},
		{"NoCloud of older times", DMI{SysVendor: "QEMU", ProductSerial: "ds=nocloud-net;s=http://10.0.0.1:8000/"}, NoCloud},
		{"NoCloud on what looks like a cloud", DMI{SysVendor: "Amazon EC2", ProductSerial: "ds=nocloud;s=http://10.0.0.1:8000/", ChassisAssetTag: tag}, NoCloud},
		{"QEMU", DMI{SysVendor: "QEMU", ProductName: "Standard PC (Q35 + ICH9, 2009)", ProductVersion: "pc-q35-7.2", BIOSVendor: "SeaBIOS"}, ""},
		{"VMware", DMI{SysVendor: "VMware, Inc.", ProductName: "VMware7,1", ChassisAssetTag: "No Asset Tag", BIOSVendor: "VMware, Inc."}, ""},
		{"a machine of metal", DMI{SysVendor: "Dell Inc.", ProductName: "PowerEdge R640", ProductSerial: "ABC1234", BIOSVendor: "Dell Inc."}, ""},
		{"no firmware", DMI{}, ""},
		{"a tag with more after it", DMI{ChassisAssetTag: tag + "-1"}, ""},
		{"a vendor in other case", DMI{SysVendor: "amazon ec2"}, ""},
	} {
		if got := Platform(c.dmi); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// A firmware string counts only if it is printable and short.
func TestDMI(t *testing.T) {
	for content, want := range map[string]string{
		"Amazon EC2\n":                    "Amazon EC2",
		"  Dell Inc.  \n":                 "Dell Inc.",
		"":                                "",
		"\n":                              "",
		"a\x1b[2Jb\n":                     "",
		"a\x00b":                          "",
		"Müller\n":                        "",
		"a\nb\n":                          "",
		strings.Repeat("x", maxDMI):       strings.Repeat("x", maxDMI),
		strings.Repeat("x", maxDMI) + "x": "",
	} {
		got := Gather(machine{files: map[string]string{"/sys/class/dmi/id/sys_vendor": content}}).DMI
		if got != (DMI{SysVendor: want}) {
			t.Errorf("%q: got %+v", content, got)
		}
	}
}

// The platform is recognized from the kernel's files with the firmware's strings.
func TestPlatformOfMachine(t *testing.T) {
	for file, want := range map[string]struct{ content, platform string }{
		"sys_vendor":        {"Amazon EC2\n", EC2},
		"product_name":      {"OpenStack Nova\n", OpenStack},
		"product_serial":    {"ds=nocloud;s=http://10.0.0.1/\n", NoCloud},
		"chassis_asset_tag": {"7783-7084-3265-9085-8269-3286-77\n", Azure},
		"board_asset_tag":   {"Amazon EC2\n", ""},
		"bios_vendor":       {"Amazon EC2\n", ""},
	} {
		got := Gather(machine{files: map[string]string{"/sys/class/dmi/id/" + file: want.content}}).Platform
		if got != want.platform {
			t.Errorf("%s: got %q, want %q", file, got, want.platform)
		}
	}
	xen := map[string]string{
		"/sys/class/dmi/id/product_uuid": "EC2CEFAC-DCE1-EED5-4E48-83AD3EF51BFB\n", "/sys/class/dmi/id/product_serial": "ec2cefac-dce1-eed5-4e48-83ad3ef51bfb\n",
	}
	if got := Gather(machine{files: maps.Clone(xen)}).Platform; got != EC2 {
		t.Errorf("EC2, Xen: got %q", got)
	}
}
