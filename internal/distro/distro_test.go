package distro_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/distro"
)

// images have the os-release(5) of published images, with the row for each.
var images = []image{
	{"debian-12-genericcloud-amd64", distro.Release{ID: "debian", VersionID: "12"}, "Debian", ""},
	{"ubuntu-24.04-server-cloudimg-amd64", distro.Release{ID: "ubuntu", VersionID: "24.04", IDLike: "debian"}, "Ubuntu", ""},
	{"AKSCBLMariner V2gen2, AKS", distro.Release{ID: "mariner", VersionID: "2.0"}, "Azure Linux 2", ""},
	{"AKSAzureLinux V3gen2 202608.20, AKS", distro.Release{ID: "azurelinux", VersionID: "3.0"}, "Azure Linux 3", ""},
	{"AKSAzureLinux OSGuardgen2fipsTL 202608.20, AKS", distro.Release{ID: "azurelinux", VersionID: "3.0", VariantID: "osguard"}, "Azure Linux 3 with OS Guard", ""},
	{"AKSAzureContainerLinux gen2TL 202608.20, AKS", distro.Release{ID: "azurelinux", VersionID: "3.0.20260809", VariantID: "azurecontainerlinux", IDLike: "flatcar"}, "Azure Container Linux", ""},
	{"AKSAzureContainerLinux before it had a variant", distro.Release{ID: "azurecontainerlinux", VersionID: "3.0"}, "Azure Container Linux", ""},
	{"AKSFlatcar gen2 202607.02.0, AKS", distro.Release{ID: "flatcar", VersionID: "4694.0.1", IDLike: "coreos"}, "Flatcar", ""},
	{"amzn2-ami-hvm-2.0-x86_64-gp2", distro.Release{ID: "amzn", VersionID: "2", IDLike: "centos rhel fedora"}, "Amazon Linux 2", ""},
	{"amazon-eks-node-al2023-x86_64-standard", distro.Release{ID: "amzn", VersionID: "2023", IDLike: "fedora"}, "Amazon Linux 2023", ""},
	{"rhel-9.4-x86_64-kvm", distro.Release{ID: "rhel", VersionID: "9.4", IDLike: "fedora"}, redHat, ""},
	{"Rocky-9-GenericCloud-Base-9.4.x86_64", distro.Release{ID: "rocky", VersionID: "9.4", IDLike: "rhel centos fedora"}, redHat, ""},
	{"AlmaLinux-9-GenericCloud-9.4.x86_64", distro.Release{ID: "almalinux", VersionID: "9.4", IDLike: "rhel centos fedora"}, redHat, ""},
	{"CentOS-Stream-GenericCloud-9.x86_64", distro.Release{ID: "centos", VersionID: "9", IDLike: "rhel fedora"}, redHat, ""},
	{"OL9U4_x86_64-kvm", distro.Release{ID: "ol", VersionID: "9.4", VariantID: "server", IDLike: "fedora"}, redHat, ""},
	{"SLES15-SP6-Minimal-VM.x86_64-Cloud", distro.Release{ID: "sles", VersionID: "15.6", IDLike: "suse"}, suse, ""},
	{"openSUSE-Leap-15.6-Minimal-VM.x86_64-Cloud", distro.Release{ID: "opensuse-leap", VersionID: "15.6", IDLike: "suse opensuse"}, suse, ""},
	{"openSUSE-Tumbleweed-Minimal-VM.x86_64-Cloud", distro.Release{ID: "opensuse-tumbleweed", VersionID: "20240606", IDLike: "opensuse suse"}, suse, ""},
	{"Fedora-Cloud-Base-Generic-40", distro.Release{ID: "fedora", VersionID: "40", VariantID: "cloud"}, redHat, "fedora"},
	{"CloudLinux 8.10", distro.Release{ID: "cloudlinux", VersionID: "8.10", IDLike: "rhel fedora centos"}, redHat, "rhel"},
	{"Alibaba Cloud Linux 3", distro.Release{ID: "alinux", VersionID: "3", IDLike: "rhel fedora centos anolis"}, redHat, "rhel"},
	{"pop-os_22.04_amd64_intel", distro.Release{ID: "pop", VersionID: "22.04", IDLike: "ubuntu debian"}, "Ubuntu", "ubuntu"},
	{"raspios-bookworm-arm64-lite", distro.Release{ID: "raspbian", VersionID: "12", IDLike: "debian"}, "Debian", "debian"},
	{"photon-ami-5.0", distro.Release{ID: "photon", VersionID: "5.0"}, "", ""},
	{"bottlerocket-aws-k8s-1.30", distro.Release{ID: "bottlerocket", VersionID: "1.20.0", VariantID: "aws-k8s-1.30"}, "", ""},
	{"archlinux-x86_64-cloudimg", distro.Release{ID: "arch"}, "", ""},
	{"no image", distro.Release{}, "", ""},
}

type image struct {
	image   string
	release distro.Release
	row     string
	like    string
}

const (
	redHat = "Red Hat Enterprise Linux and its rebuilds"
	suse   = "SUSE Linux Enterprise and openSUSE"
)

func TestImagesHaveTheirRow(t *testing.T) {
	rows := make(map[string]bool)
	for _, c := range images {
		d, like := distro.Of(c.release)
		if d.Name != c.row || like != c.like {
			t.Errorf("%s: got %q by %q, want %q by %q", c.image, d.Name, like, c.row, c.like)
		}
		rows[d.Name] = true
	}
	for _, d := range distro.All() {
		if !rows[d.Name] {
			t.Errorf("no image is of %s", d.Name)
		}
	}
}

// The closest distribution counts, and the words of ID_LIKE are in the order of closeness (os-release(5)).
func TestTheClosestDistributionCounts(t *testing.T) {
	for idLike, want := range map[string]string{
		"debian ubuntu": "Debian", "ubuntu debian": "Ubuntu", "other  amzn": "Amazon Linux 2023", "azurelinux": "Azure Linux 3", "other": "", " ": "",
	} {
		if d, _ := distro.Of(distro.Release{ID: "derived", VersionID: "2", IDLike: idLike}); d.Name != want {
			t.Errorf("%q: got %q, want %q", idLike, d.Name, want)
		}
	}
}

// A similar distribution has other releases, kernels and archives than the distribution whose row it uses.
func TestSimilarDistributionHasNoReleases(t *testing.T) {
	similar, _ := distro.Of(distro.Release{ID: "pop", VersionID: "22.04", IDLike: "ubuntu debian"})
	listed, _ := similar.Fixed("22.04", "5.15.0-1-generic")
	if listed || similar.CgroupVersion("22.04") != 0 || similar.Packages.Suite("22.04") != "" || similar.Packages.Snaps {
		t.Errorf("%+v", similar)
	}
	if !similar.Packages.Apt || similar.Trust.Anchors == "" || similar.SSH.Service != "ssh.service" {
		t.Errorf("%+v", similar)
	}
}

func TestControlGroupsOfAReleaseAndLater(t *testing.T) {
	for _, c := range []struct {
		release distro.Release
		want    int
	}{
		{distro.Release{ID: "ubuntu", VersionID: "20.04"}, 1},
		{distro.Release{ID: "ubuntu", VersionID: "21.10"}, 2},
		{distro.Release{ID: "ubuntu", VersionID: "24.04"}, 2},
		{distro.Release{ID: "debian", VersionID: "9"}, 1},
		{distro.Release{ID: "debian", VersionID: "12"}, 2},
		{distro.Release{ID: "rocky", VersionID: "8.10"}, 1},
		{distro.Release{ID: "rocky", VersionID: "9.4"}, 2},
		{distro.Release{ID: "amzn", VersionID: "2"}, 1},
		{distro.Release{ID: "amzn", VersionID: "2023"}, 2},
		{distro.Release{ID: "flatcar", VersionID: "4230.2.0"}, 2},
		{distro.Release{ID: "sles", VersionID: "15.6", IDLike: "suse"}, 0},
		{distro.Release{ID: "debian"}, 0}, // sid and testing have no version
		{distro.Release{ID: "arch"}, 0},
	} {
		d, _ := distro.Of(c.release)
		if got := d.CgroupVersion(c.release.VersionID); got != c.want {
			t.Errorf("%+v: got %d, want %d", c.release, got, c.want)
		}
	}
}

// The kernels that lack the fix, by distribution, release and flavour.
func TestVulnerableKernels(t *testing.T) {
	for _, c := range []struct {
		release distro.Release
		kernel  string
		want    bool
	}{
		{distro.Release{ID: "ubuntu", VersionID: "20.04"}, "5.15.0-9999-azure", true},
		{distro.Release{ID: "ubuntu", VersionID: "22.04"}, "5.15.0-1115-azure", true},
		{distro.Release{ID: "ubuntu", VersionID: "22.04"}, "5.15.0-1116-azure", false},
		{distro.Release{ID: "ubuntu", VersionID: "22.04"}, "5.15.0-1116-azure-fips", false},
		{distro.Release{ID: "ubuntu", VersionID: "22.04"}, "5.15.0-1115-azure-fde", true},
		{distro.Release{ID: "ubuntu", VersionID: "22.04"}, "6.8.0-1001-azure", false},
		{distro.Release{ID: "ubuntu", VersionID: "22.04"}, "5.15.0-180-generic", true},
		{distro.Release{ID: "ubuntu", VersionID: "22.04"}, "5.15.0-181-generic", false},
		{distro.Release{ID: "ubuntu", VersionID: "22.04"}, "5.15.0-9999-lowlatency", true},
		{distro.Release{ID: "ubuntu", VersionID: "22.04"}, "5.15.0-abcd-azure", true},
		{distro.Release{ID: "ubuntu", VersionID: "22.04"}, "5.15-azure", true},
		{distro.Release{ID: "ubuntu", VersionID: "22.04"}, "", true},
		{distro.Release{ID: "ubuntu", VersionID: "24.04"}, "6.8.0-1057-azure", true},
		{distro.Release{ID: "ubuntu", VersionID: "24.04"}, "6.8.0-1058-azure", false},
		{distro.Release{ID: "ubuntu", VersionID: "24.04"}, "6.8.0-124-generic", false},
		{distro.Release{ID: "ubuntu", VersionID: "26.04"}, "7.0.0-1-azure", false},
		{distro.Release{ID: "azurelinux", VersionID: "3.0"}, "6.6.1-1.azl3", false},
		{distro.Release{ID: "azurelinux", VersionID: "3.0", VariantID: "osguard"}, "6.6.1-1.azl3", true},
		{distro.Release{ID: "mariner", VersionID: "2.0"}, "5.15.1-1.cm2", true},
		{distro.Release{ID: "debian", VersionID: "12"}, "6.1.0-1-amd64", false},
		{distro.Release{}, "5.15.0-1-azure", false},
	} {
		d, _ := distro.Of(c.release)
		if listed, fixed := d.Fixed(c.release.VersionID, c.kernel); (listed && !fixed) != c.want {
			t.Errorf("%+v with kernel %q: listed %t, fixed %t, want vulnerable %t", c.release, c.kernel, listed, fixed, c.want)
		}
	}
}

// cells are the cells of a row, by name.
func cells(d *distro.Distribution) map[string]reflect.Value {
	all := make(map[string]reflect.Value)
	var walk func(v reflect.Value, name string)
	walk = func(v reflect.Value, name string) {
		if v.Kind() != reflect.Struct {
			all[name] = v
			return
		}
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && field.Name != "Empty" {
				walk(v.Field(i), strings.TrimPrefix(name+"."+field.Name, "."))
			}
		}
	}
	walk(reflect.ValueOf(d).Elem(), "")
	return all
}

// An empty cell has a reason, and each reason in a row is for empty cells.
func TestEmptyCellsHaveReasons(t *testing.T) {
	for _, d := range distro.All() {
		all := cells(d)
		for cell, v := range all {
			if v.IsZero() && d.Reason(cell) == "" {
				t.Errorf("%s: %s is empty, and there is no reason", d.Name, cell)
			}
		}
		for of, reason := range d.Empty {
			covered := 0
			for cell, v := range all {
				if cell == of || strings.HasPrefix(cell, of+".") {
					if covered++; !v.IsZero() {
						t.Errorf("%s: %s is %v, and there is a reason why it is empty: %s", d.Name, cell, v, reason)
					}
				}
			}
			if covered == 0 || reason == "" {
				t.Errorf("%s: %s is no cell, or its reason is empty: %q", d.Name, of, reason)
			}
		}
	}
}
