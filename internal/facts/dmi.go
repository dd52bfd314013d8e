package facts

import "strings"

// DMI has the firmware's strings about the machine (SMBIOS, DSP0134 section 7.1 to 7.4), as the kernel shows them below
// /sys/class/dmi/id. On a virtual machine they come from the hypervisor, so they identify the cloud.
//
// Only the superuser can read the product's serial number and UUID, and everyone can read a record of facts: both are
// used to detect the platform and never recorded.
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

// dmiDir is where the kernel has the firmware's strings, each in a file (drivers/firmware/dmi-id.c).
const dmiDir = "/sys/class/dmi/id"

// maxDMI limits each of them, in bytes. The kernel allows a page; a readable text is a few words.
const maxDMI = 256

// dmi reads the firmware's strings. On a machine without firmware tables it makes one look and reads nothing.
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

// unprintable reports whether a character is not printable ASCII.
func unprintable(r rune) bool { return r < ' ' || r > '~' }

// shown is the beginning of a text, with a question mark for each character that is not printable ASCII.
func shown(text string) string {
	return strings.Map(func(r rune) rune {
		if unprintable(r) {
			return '?'
		}
		return r
	}, text[:min(len(text), maxText)])
}

// printable returns a text if it is printable ASCII, or else "": the text is written to a record and to terminals.
func printable(text string) string {
	if strings.ContainsFunc(text, unprintable) {
		return ""
	}
	return text
}
