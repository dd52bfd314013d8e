package facts

import "strings"

// uuidFiles are the files from which a kubelet reads its Node's systemUUID; the first existing one counts
// (github.com/google/cadvisor, utils/sysfs/sysfs.go, GetSystemUUID).
var uuidFiles = []string{
	"/sys/class/dmi/id/product_uuid",
	"/proc/device-tree/system-id",
	"/proc/device-tree/vm,uuid",
	"/etc/machine-id",
}

// maxAttribute is the kernel's size limit for its files, a page.
const maxAttribute = 4 << 10

// SystemUUID is the machine's UUID as its kubelet reports it, or "". Only the superuser can read the first file.
func SystemUUID(read func(path string, limit int64) ([]byte, error)) string {
	for _, path := range uuidFiles {
		if data, err := read(path, maxAttribute); err == nil {
			return strings.TrimSpace(strings.TrimRight(string(data), "\x00"))
		}
	}
	return ""
}
