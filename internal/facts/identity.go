package facts

import "strings"

// Where a machine has the names of itself and of its boot.
const (
	machineIDPath = "/etc/machine-id"
	bootIDPath    = "/proc/sys/kernel/random/boot_id"
)

// maxID bounds what is read of either, in bytes.
const maxID = 64

// machineID reads machine-id(5), which is empty or says "uninitialized" in an image that has not booted yet.
func (g gatherer) machineID() string {
	content, err := g.ReadFile(machineIDPath, maxID)
	if err != nil {
		return ""
	}
	return parseMachineID(content)
}

// parseMachineID wants 32 lower-case hexadecimal digits that are not all zero, and a line end at most.
func parseMachineID(content []byte) string {
	id := strings.TrimSuffix(string(content), "\n")
	if len(id) != 32 || !isHex(id) || strings.Trim(id, "0") == "" {
		return ""
	}
	return id
}

// bootID reads what the kernel has made for this boot (random(4)).
func (g gatherer) bootID() string {
	content, err := g.ReadFile(bootIDPath, maxID)
	if err != nil {
		return ""
	}
	return parseUUID(content)
}

// uuidGroups are how many digits there are between the hyphens of a UUID (RFC 9562, section 4).
var uuidGroups = []int{8, 4, 4, 4, 12}

func parseUUID(content []byte) string {
	id := strings.TrimSuffix(string(content), "\n")
	groups := strings.Split(id, "-")
	if len(groups) != len(uuidGroups) {
		return ""
	}
	for i, group := range groups {
		if len(group) != uuidGroups[i] || !isHex(group) {
			return ""
		}
	}
	return id
}

func isHex(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" }
