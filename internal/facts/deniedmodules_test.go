package facts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// The modules that the files of modprobe.d deny, or have denied before.
func TestDeniedModules(t *testing.T) {
	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, "blacklist m%03d\n", i)
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"none": {nil, nil},
		"AKS's own, and a guide's": {map[string]string{
			"/etc/modprobe.d/disable-esp4.conf": "install esp4 /bin/false\nblacklist esp4\n",
			"/etc/modprobe.d/CIS.conf":          "# 1.1.1\ninstall cramfs /bin/true\n\n\tinstall  algif-aead\t/usr/bin/false \noptions esp6 a=b\n",
		}, []string{"algif_aead", "cramfs", "esp4"}},
		"taken out":             {map[string]string{"/etc/modprobe.d/CIS.conf": FixedRule + "install rxrpc /bin/true\n" + FixedRule + "blacklist esp6"}, []string{"esp6", "rxrpc"}},
		"a rule of another use": {map[string]string{"/etc/modprobe.d/a.conf": "install esp4 modprobe --ignore-install esp4\n# blacklist esp6\nblacklist\n"}, nil},
		"no configuration":      {map[string]string{"/etc/modprobe.d/a.conf.bak": "blacklist esp4\n", "/etc/modprobe.d/b": "blacklist esp4\n"}, nil},
		"not to be shown":       {map[string]string{"/etc/modprobe.d/a.conf": "blacklist \xff\nblacklist " + strings.Repeat("a", 100) + "\n"}, nil},
	} {
		if got := Gather(onAzure(c.files)).DeniedModules; !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := Gather(onAzure(map[string]string{"/etc/modprobe.d/a.conf": many.String()})).DeniedModules; len(got) != 256 {
		t.Errorf("%d are recorded", len(got))
	}
}

// onAzure is a machine of Azure's.
func onAzure(files map[string]string) machine {
	all := map[string]string{"/sys/class/dmi/id/chassis_asset_tag": "7783-7084-3265-9085-8269-3286-77\n"}
	maps.Copy(all, files)
	return machine{files: all}
}
