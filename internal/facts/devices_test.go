package facts

import "testing"

// An NVIDIA device is found by its vendor's number, on EC2 only.
func TestNVIDIADevice(t *testing.T) {
	const disk, graphics = "/sys/bus/pci/devices/0000:00:04.0/vendor", "/sys/bus/pci/devices/0000:00:1e.0/vendor"
	for name, c := range map[string]struct {
		vendor string
		files  map[string]string
		want   bool
	}{
		"a graphics processor": {"Amazon EC2\n", map[string]string{disk: "0x1d0f\n", graphics: "0x10de\n"}, true},
		"others":               {"Amazon EC2\n", map[string]string{disk: "0x1d0f\n", graphics: "0x1002\n"}, false},
		"no number":            {"Amazon EC2\n", map[string]string{disk: "0x10de0x10de\n", graphics: ""}, false},
		"no bus":               {"Amazon EC2\n", map[string]string{}, false},
		"another cloud":        {"Google\n", map[string]string{graphics: "0x10de\n"}, false},
	} {
		c.files["/sys/class/dmi/id/sys_vendor"] = c.vendor
		if got := Gather(machine{files: c.files}).NVIDIADevice; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
