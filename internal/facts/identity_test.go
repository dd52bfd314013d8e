package facts

import (
	"strings"
	"testing"
)

func TestMachineID(t *testing.T) {
	const id = "0f3a5b7c9d1e4f60a1b2c3d4e5f60718"
	for content, want := range map[string]string{
		id: id, id + "\n": id,
		"":                           "",
		"\n":                         "",
		"uninitialized\n":            "",
		id[1:] + "\n":                "",
		id + "0\n":                   "",
		id + "\n\n":                  "",
		" " + id:                     "",
		strings.ToUpper(id):          "",
		"g" + id[1:]:                 "",
		strings.Repeat("0", 32):      "",
		strings.Repeat("f", 32):      strings.Repeat("f", 32),
		id + strings.Repeat(" ", 64): "",
	} {
		if got := Gather(machine{files: map[string]string{"/etc/machine-id": content}}).MachineID; got != want {
			t.Errorf("%q: got %q, want %q", content, got, want)
		}
	}
}

func TestBootID(t *testing.T) {
	const id = "3b2c1d0e-4f5a-4b6c-8d7e-9f0a1b2c3d4e"
	for content, want := range map[string]string{
		id: id, id + "\n": id,
		"":                                     "",
		strings.ReplaceAll(id, "-", ""):        "",
		strings.ToUpper(id):                    "",
		id + "-0":                              "",
		"3b2c1d0e4-f5a-4b6c-8d7e-9f0a1b2c3d4e": "",
		"----":                                 "",
	} {
		if got := Gather(machine{files: map[string]string{"/proc/sys/kernel/random/boot_id": content}}).BootID; got != want {
			t.Errorf("%q: got %q, want %q", content, got, want)
		}
	}
}

// FuzzMachineID: an identity is hexadecimal digits of the right number or nothing.
func FuzzMachineID(f *testing.F) {
	f.Add([]byte("0f3a5b7c9d1e4f60a1b2c3d4e5f60718\n"))
	f.Add([]byte("3b2c1d0e-4f5a-4b6c-8d7e-9f0a1b2c3d4e\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		if id := parseMachineID(content); id != "" && (len(id) != 32 || !isHex(id)) {
			t.Fatalf("%q", id)
		}
		if id := parseUUID(content); id != "" && (len(id) != 36 || !isHex(strings.ReplaceAll(id, "-", ""))) {
			t.Fatalf("%q", id)
		}
	})
}
