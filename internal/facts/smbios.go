package facts

import "bytes"

// SMBIOSTable is where the kernel has the machine's raw SMBIOS structure table, for the superuser only
// (Documentation/ABI/testing/sysfs-firmware-dmi-tables). It may hold secrets: OEM strings can be credentials.
const SMBIOSTable = "/sys/firmware/dmi/tables/DMI"

// MaxSMBIOSTable limits the table, in bytes. It allows a credential of systemd's maximum size, 1 MiB, in Base64.
const MaxSMBIOSTable = 2 << 20

// maxOEMStrings limits the number of strings: four structures full of them.
const maxOEMStrings = 4 * 255

// The used types of structures (DSP0134 section 7).
const (
	smbiosOEMStrings = 11  // 7.12
	smbiosEndOfTable = 127 // 7.45
)

// smbiosHeader is the length of every structure's header: type, length, handle (DSP0134 section 6.1.2).
const smbiosHeader = 4

// OEMStrings returns the OEM strings (type 11) of a raw SMBIOS structure table, in their order. A damaged table is read
// up to the damage, and not beyond [MaxSMBIOSTable].
func OEMStrings(table []byte) []string {
	table = table[:min(len(table), MaxSMBIOSTable)]
	var oem []string
	for len(oem) < maxOEMStrings {
		s, rest, ok := nextStructure(table)
		if !ok || s.kind == smbiosEndOfTable {
			break
		}
		if s.kind == smbiosOEMStrings {
			oem = append(oem, s.oemStrings(maxOEMStrings-len(oem))...)
		}
		table = rest
	}
	return oem
}

// smbiosStructure is one structure of the table: its formatted area, header included, and the strings after it, each
// except the last with its terminating NUL.
type smbiosStructure struct {
	kind      byte
	formatted []byte
	strings   []byte
}

// nextStructure splits off the first structure. Its length covers the formatted area only. The strings reach to the
// next two NULs, which also exist if there are no strings (DSP0134 section 6.1.3).
func nextStructure(table []byte) (s smbiosStructure, rest []byte, ok bool) {
	if len(table) < smbiosHeader {
		return s, nil, false
	}
	length := int(table[1])
	if length < smbiosHeader || length > len(table) {
		return s, nil, false
	}
	formatted, after := table[:length], table[length:]
	strings, rest, ok := bytes.Cut(after, []byte{0, 0})
	return smbiosStructure{table[0], formatted, strings}, rest, ok
}

// oemStrings are the strings of a structure of type 11, whose fifth byte is their number; limit is another limit.
func (s smbiosStructure) oemStrings(limit int) []string {
	if len(s.formatted) <= smbiosHeader {
		return nil
	}
	limit = min(limit, int(s.formatted[smbiosHeader]))
	var list []string
	for text := range bytes.SplitSeq(s.strings, []byte{0}) {
		if len(text) == 0 || len(list) == limit {
			break
		}
		list = append(list, string(text))
	}
	return list
}
