package lab

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/test/fakecloud"
)

// furnished is a machine of a cloud, and the arguments for QEMU and the kernel.
func furnished(t *testing.T, cloud string, g Guest) (m Machine, told string) {
	t.Helper()
	l := &Lab{Cloud: fakecloud.New(fakecloud.Instance{})}
	m, err := l.In(t.Context(), cloud, Machine{Dir: t.TempDir()}, g)
	if err != nil {
		t.Fatal(err)
	}
	return m, strings.Join(m.Firmware, " ") + m.KernelArgs
}

func TestMachinesOfClouds(t *testing.T) {
	if _, err := exec.LookPath("genisoimage"); err != nil {
		t.Skip("no genisoimage: the end-to-end test installs it")
	}
	data := []byte("#cloud-config\n\x00\xff")
	for cloud, c := range map[string]struct {
		tells string
		// files are those of the seed, in isoinfo's format. If nil, there is no seed.
		files []string
	}{
		"azure":      {azureTag, []string{"/OVF_ENV.XML;1"}},
		"ec2":        {"uuid=ec2", nil},
		"nocloud":    {"manufacturer=QEMU", []string{"/meta-data", "/user-data"}},
		"openstack":  {"OpenStack Nova", []string{"/openstack", "/openstack/latest", "/openstack/latest/meta_data.json", "/openstack/latest/user_data"}},
		"credential": {"io.systemd.credential.binary:slipway.contract=" + base64.StdEncoding.EncodeToString(data), nil},
	} {
		m, first := furnished(t, cloud, Guest{Name: "node", Number: 1, UserData: data})
		_, second := furnished(t, cloud, Guest{Name: "node", Number: 2, UserData: data})
		if !strings.Contains(first, c.tells) || first == second {
			t.Errorf("%s: the machines get %q and %q, want %q and two machines", cloud, first, second, c.tells)
		}
		if c.files == nil {
			if m.Seed != "" {
				t.Errorf("%s has the seed %s", cloud, m.Seed)
			}
			continue
		}
		list := []string{"-f", "-R", "-i", m.Seed}
		if cloud == "azure" {
			list = []string{"-f", "-i", m.Seed} // UDF, with plain names beside it
		}
		out, err := exec.Command("isoinfo", list...).Output()
		if files := strings.Fields(string(out)); err != nil || !slices.Equal(files, c.files) {
			t.Errorf("%s: the seed has %q, %v, want %q", cloud, files, err, c.files)
		}
		if cloud == "azure" {
			continue
		}
		name := c.files[len(c.files)-1]
		content, err := exec.Command("isoinfo", "-R", "-i", m.Seed, "-x", name).Output()
		if err != nil || !bytes.Equal(content, data) {
			t.Errorf("%s: %s is %q, %v, want the user data", cloud, name, content, err)
		}
	}
	if _, err := new(Lab).In(t.Context(), "moon", Machine{}, Guest{}); err == nil || !strings.Contains(err.Error(), "azure") {
		t.Errorf("an unknown cloud: %v", err)
	}
}

func TestSettingsDocument(t *testing.T) {
	document, err := ovf(Guest{Name: "a<b", UserData: []byte("data\x00")})
	if err != nil {
		t.Fatal(err)
	}
	var settings struct {
		Section struct {
			Set struct{ HostName, CustomData string } `xml:"LinuxProvisioningConfigurationSet"`
		} `xml:"ProvisioningSection"`
	}
	if err := xml.Unmarshal(document, &settings); err != nil {
		t.Fatal(err)
	}
	data, err := base64.StdEncoding.DecodeString(settings.Section.Set.CustomData)
	if err != nil || settings.Section.Set.HostName != "a<b" || string(data) != "data\x00" {
		t.Errorf("the settings are %+v, %v", settings, err)
	}
}
