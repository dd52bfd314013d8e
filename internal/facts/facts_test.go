package facts

import (
	"reflect"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
)

func TestParseOSRelease(t *testing.T) {
	for _, c := range []struct {
		name, content string
		want          OS
	}{
		{"empty", "", OS{}},
		{"Ubuntu", "PRETTY_NAME=\"Ubuntu 24.04.3 LTS\"\nNAME=\"Ubuntu\"\nVERSION_ID=\"24.04\"\nID=ubuntu\nID_LIKE=debian\n", OS{ID: "ubuntu", VersionID: "24.04", IDLike: "debian"}},
		{"Azure Linux", "NAME=\"Microsoft Azure Linux\"\nID=azurelinux\nVERSION_ID=\"3.0\"\n", OS{ID: "azurelinux", VersionID: "3.0"}},
		{"Rocky Linux", "NAME=\"Rocky Linux\"\nID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\nVERSION_ID=\"9.4\"\n", OS{ID: "rocky", VersionID: "9.4", IDLike: "rhel centos fedora"}},
		{"Flatcar", "ID=flatcar\nID_LIKE=coreos\nVERSION_ID=4230.2.0\nVARIANT_ID=azure\n", OS{ID: "flatcar", VersionID: "4230.2.0", VariantID: "azure", IDLike: "coreos"}},
		{"single quotes", "ID='debian'\nVERSION_ID='13'\n", OS{ID: "debian", VersionID: "13"}},
		{"comments and blank lines", "# ID=no\n\n  \n#\nID=yes\n", OS{ID: "yes"}},
		{"line ends of others", "ID=ubuntu\r\nVERSION_ID=\"24.04\"\r\n", OS{ID: "ubuntu", VersionID: "24.04"}},
		{"no line end", "ID=ubuntu", OS{ID: "ubuntu"}},
		{"empty values", "ID=\nVERSION_ID=\"\"\n", OS{}},
		{"no assignments", "ubuntu\n=\n= x\n", OS{}},
		{"the last counts", "ID=a\nID=b\n", OS{ID: "b"}},
		{"equals signs", "ID=a=b\n", OS{ID: "a=b"}},
		{"no text", "\x00\xff=\xfe\nID=x\n", OS{ID: "x"}},
	} {
		if got := parseOSRelease([]byte(c.content)); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// The administrator's os-release comes before the distribution's, even if it is empty.
func TestPlacesOfOSRelease(t *testing.T) {
	const etc, usr = "/etc/os-release", "/usr/lib/os-release"
	for _, c := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{etc: "ID=etc\n", usr: "ID=usr\n"}, "etc"},
		{map[string]string{usr: "ID=usr\n"}, "usr"},
		{map[string]string{etc: "", usr: "ID=usr\n"}, ""},
		{map[string]string{etc: strings.Repeat("#", maxFile+1), usr: "ID=usr\n"}, "usr"},
		{nil, ""},
	} {
		if got := (gatherer{machine{files: c.files}}).os().ID; got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	for document, want := range map[string]*Facts{
		`{}`: {},
		`{"os":{"id":"ubuntu"},"cpus":4,"unknown":true}`:         {OS: OS{ID: "ubuntu"}, CPUs: 4},
		`{"components":[{"name":"kubelet","version":"1.34.2"}]}`: {Components: []components.Component{{Name: "kubelet", Version: "1.34.2"}}},
		``: nil, `[]`: nil, `{`: nil, `{"cpus":"four"}`: nil, `{"nodeIPs":[1]}`: nil, `{} {}`: nil,
	} {
		got, err := Parse([]byte(document))
		if want == nil {
			if err == nil || !strings.HasPrefix(err.Error(), "facts: ") || !reflect.DeepEqual(got, Facts{}) {
				t.Errorf("%s: %+v, %v", document, got, err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, *want) {
			t.Errorf("%s: %+v, %v", document, got, err)
		}
	}
}

func TestInstalled(t *testing.T) {
	f := Facts{Components: []components.Component{
		{Name: "kubelet", Version: "1.33.5", Path: "/a"}, {Name: "kubelet", Version: "1.34.2", Path: "/b"}, {Name: "containerd", Version: "2", Path: "/c"},
	}}
	for _, c := range []struct{ name, version, path string }{
		{"kubelet", "1.34.2", "/b"}, {"kubelet", "1.33.5", "/a"}, {"kubelet", "1.34", ""}, {"kubelet", "", ""}, {"runc", "2", ""}, {"containerd", "2", "/c"},
	} {
		if path, ok := f.Installed(c.name, c.version); path != c.path || ok != (c.path != "") {
			t.Errorf("%+v: got %q, %v", c, path, ok)
		}
	}
	for name, want := range map[string]string{"kubelet": "1.33.5", "containerd": "2", "runc": "", "": ""} {
		if got := f.Version(name); got != want {
			t.Errorf("%s: got %s", name, got)
		}
	}
}
