package plan

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
)

// Which kernels lack the fix, by distribution, release and flavour.
func TestVulnerableKernels(t *testing.T) {
	for _, c := range []struct {
		os     facts.OS
		kernel string
		want   bool
	}{
		{facts.OS{ID: "ubuntu", VersionID: "20.04"}, "5.15.0-9999-azure", true},
		{facts.OS{ID: "ubuntu", VersionID: "22.04"}, "5.15.0-1115-azure", true},
		{facts.OS{ID: "ubuntu", VersionID: "22.04"}, "5.15.0-1116-azure", false},
		{facts.OS{ID: "ubuntu", VersionID: "22.04"}, "5.15.0-1116-azure-fips", false},
		{facts.OS{ID: "ubuntu", VersionID: "22.04"}, "5.15.0-1115-azure-fde", true},
		{facts.OS{ID: "ubuntu", VersionID: "22.04"}, "6.8.0-1001-azure", false},
		{facts.OS{ID: "ubuntu", VersionID: "22.04"}, "5.15.0-180-generic", true},
		{facts.OS{ID: "ubuntu", VersionID: "22.04"}, "5.15.0-181-generic", false},
		{facts.OS{ID: "ubuntu", VersionID: "22.04"}, "5.15.0-9999-lowlatency", true},
		{facts.OS{ID: "ubuntu", VersionID: "22.04"}, "5.15.0-abcd-azure", true},
		{facts.OS{ID: "ubuntu", VersionID: "22.04"}, "5.15-azure", true},
		{facts.OS{ID: "ubuntu", VersionID: "22.04"}, "", true},
		{facts.OS{ID: "ubuntu", VersionID: "24.04"}, "6.8.0-1057-azure", true},
		{facts.OS{ID: "ubuntu", VersionID: "24.04"}, "6.8.0-1058-azure", false},
		{facts.OS{ID: "ubuntu", VersionID: "24.04"}, "6.8.0-124-generic", false},
		{facts.OS{ID: "ubuntu", VersionID: "26.04"}, "7.0.0-1-azure", false},
		{facts.OS{ID: "azurelinux", VersionID: "3.0"}, "6.6.1-1.azl3", false},
		{facts.OS{ID: "azurelinux", VersionID: "3.0", VariantID: "osguard"}, "6.6.1-1.azl3", true},
		{facts.OS{ID: "mariner", VersionID: "2.0"}, "5.15.1-1.cm2", true},
		{facts.OS{ID: "debian", VersionID: "12"}, "6.1.0-1-amd64", false},
		{facts.OS{}, "5.15.0-1-azure", false},
	} {
		if got := isVulnerable(facts.Facts{OS: c.os, Kernel: c.kernel}); got != c.want {
			t.Errorf("%+v with kernel %q: vulnerable %v, want %v", c.os, c.kernel, got, c.want)
		}
	}
}
