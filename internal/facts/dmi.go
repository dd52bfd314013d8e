package facts

import "strings"

// DMI is what the machine's firmware says of it (SMBIOS, DSP0134 section 7.1 to 7.4), as the kernel has it
// below /sys/class/dmi/id. On a virtual machine the hypervisor says it, so it shows which cloud this is.
//
// The product's serial number and UUID can be read by the superuser only, and a record of facts by everybody:
// both serve to tell the platform and are never recorded.
type DMI struct {
	SysVendor       string `json:"sysVendor,omitempty"`
	ProductName     string `json:"productName,omitempty"`
	ProductVersion  string `json:"productVersion,omitempty"`
	ProductUUID     string `json:"-"`
	ProductSerial   string `json:"-"`
	ChassisAssetTag string `json:"chassisAssetTag,omitempty"`
	BoardAssetTag   string `json:"boardAssetTag,omitempty"`
	BIOSVendor      string `json:"biosVendor,omitempty"`
}

// dmiDir is where the kernel has the strings of the firmware, each a file (drivers/firmware/dmi-id.c).
const dmiDir = "/sys/class/dmi/id"

// maxDMI bounds each of them, in bytes. The kernel gives a page; what is meant to be read is a few words.
const maxDMI = 256

// dmi reads the firmware's strings. A machine without firmware tables costs one look and no reads.
func (g gatherer) dmi() DMI {
	var d DMI
	if !g.Exists(dmiDir) {
		return d
	}
	for _, f := range []struct {
		name  string
		value *string
	}{
		{"sys_vendor", &d.SysVendor},
		{"product_name", &d.ProductName},
		{"product_version", &d.ProductVersion},
		{"product_uuid", &d.ProductUUID},
		{"product_serial", &d.ProductSerial},
		{"chassis_asset_tag", &d.ChassisAssetTag},
		{"board_asset_tag", &d.BoardAssetTag},
		{"bios_vendor", &d.BIOSVendor},
	} {
		*f.value = printable(g.attribute(dmiDir+"/"+f.name, maxDMI))
	}
	return d
}

// printable returns a text, or nothing where it is not printable ASCII throughout: it goes into a record and
// onto terminals.
func printable(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return ""
	}
	return text
}
