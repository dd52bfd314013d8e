package facts

import "strings"

// The paths of the machine's ID and of the boot's ID.
const (
	machineIDPath = "/etc/machine-id"
	bootIDPath    = "/proc/sys/kernel/random/boot_id"
)

// maxID limits each of them, in bytes.
const maxID = 64

// machineID reads machine-id(5). In an image that has not booted yet, it is empty or "uninitialized".
func (g gatherer) machineID() string {
	content, _ := g.ReadFile(machineIDPath, maxID)
	return parseMachineID(content)
}

// parseMachineID requires 32 lower-case hexadecimal digits that are not all zero, with an optional line end.
func parseMachineID(content []byte) string {
	id := strings.TrimSuffix(string(content), "\n")
	if len(id) != 32 || !isHex(id) || strings.Trim(id, "0") == "" {
		return ""
	}
	return id
}

// bootID reads the kernel's ID of this boot (random(4)).
func (g gatherer) bootID() string {
	content, _ := g.ReadFile(bootIDPath, maxID)
	return parseUUID(content)
}

// uuidShape is a UUID with 0 for each digit (RFC 9562, section 4).
const uuidShape = "00000000-0000-0000-0000-000000000000"

func parseUUID(content []byte) string {
	id := strings.TrimSuffix(string(content), "\n")
	shape := strings.Map(func(r rune) rune {
		if isHex(string(r)) {
			return '0'
		}
		return r
	}, id)
	if shape != uuidShape {
		return ""
	}
	return id
}

func isHex(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" }
