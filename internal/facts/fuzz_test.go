package facts

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzParse: facts stay the same when they are written and read again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"os":{"id":"ubuntu","versionID":"24.04"},"cpus":4,"memoryBytes":1,"nodeIPs":["10.0.0.1"],"components":[{"name":"a","version":"1","path":"/x","sha256":"00"}]}`))
	f.Add([]byte(`{"components":null,"nodeIPs":[]}`))
	f.Add([]byte(`{"OS":{},"cpus":1e3}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := Parse(data)
		if err != nil {
			return
		}
		written, err := json.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		second, err := Parse(written)
		if err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(second)
		if err != nil || !reflect.DeepEqual(written, again) {
			t.Fatalf("%s\n%s", written, again)
		}
	})
}

// FuzzParseOSRelease: no value has a line end or a quote around it.
func FuzzParseOSRelease(f *testing.F) {
	f.Add([]byte("ID=ubuntu\nVERSION_ID=\"24.04\"\nVARIANT_ID='x'\n"))
	f.Add([]byte("ID=\"a\\\"b\"\r\n# c\n=\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		os := parseOSRelease(data)
		for _, value := range []string{os.ID, os.VersionID, os.VariantID, os.IDLike} {
			if strings.ContainsAny(value, "\n") || strings.Trim(value, `"'`) != value {
				t.Fatalf("%q", value)
			}
		}
	})
}

// FuzzGather: whatever the kernel's files hold, memory is never negative and nothing panics.
func FuzzGather(f *testing.F) {
	f.Add("MemTotal: 16384000 kB\n", "kubelet-1.34.2", `{"apiVersion":"slipway.dev/v1","kind":"ComponentManifest","components":[]}`)
	f.Add("MemTotal: 99999999999999999999 kB", "kubelet-", "{")
	f.Fuzz(func(t *testing.T, meminfo, name, manifest string) {
		got := Gather(machine{files: map[string]string{
			"/proc/meminfo": meminfo, "/opt/bin/" + name: "", "/opt/slipway/components.json": manifest,
		}})
		if got.MemoryBytes < 0 || (got.CPUs > 0) != (got.MemoryBytes > 0) {
			t.Fatalf("%+v", got)
		}
	})
}

// FuzzPrebakedDriver: whatever an image's marker holds, the kind of driver is printable text on one line, stays the
// same after the driver was removed, and can be written and read again.
func FuzzPrebakedDriver(f *testing.F) {
	for _, marker := range []string{"", "driver_kind=grid\n", "kernel=6.8\r\ndriver_kind= cuda \r\n", "driver_kind=", "driver_kind=\x00\xff", "x driver_kind=a", strings.Repeat("\n", 5000) + "driver_kind=a"} {
		f.Add(marker)
	}
	f.Fuzz(func(t *testing.T, marker string) {
		kind := gatherer{machine{files: map[string]string{PrebakedMarker: marker}}}.prebakedDriver()
		if strings.TrimSpace(kind) != kind || strings.ContainsFunc(kind, unicode.IsControl) || !utf8.ValidString(kind) || len(kind) > maxMarker {
			t.Fatalf("%q", kind)
		}
		if gone := (gatherer{machine{files: map[string]string{PrebakedMarker + PrebakedGone: marker}}}).prebakedDriver(); gone != kind {
			t.Fatalf("%q, and %q after it was removed", kind, gone)
		}
		if said := strings.Contains("\n"+marker, "\ndriver_kind="); !said && len(marker) <= maxMarker && kind != "cuda" {
			t.Fatalf("%q of an image that says no kind", kind)
		}
		written, err := json.Marshal(Facts{PrebakedDriver: kind})
		if err != nil {
			t.Fatal(err)
		}
		if read, err := Parse(written); err != nil || read.PrebakedDriver != kind {
			t.Fatalf("%q is read as %q, %v", kind, read.PrebakedDriver, err)
		}
	})
}
