package plan

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
)

// With a kernel that has the fix, rules of the image's own are taken out of its files, whatever these are called, and only
// these. On a second run there is nothing to do.
func TestFixedModules(t *testing.T) {
	known := facts.Facts{OS: facts.OS{ID: "ubuntu", VersionID: "22.04"}, Kernel: "5.15.0-1116-azure", DeniedModules: []string{"algif_aead", "cramfs", "esp4"}}
	command := func(known facts.Facts) *resource.Command {
		p, _ := New(contract(t, "aks/minimal.json"), known)
		c, _ := resourceAt(p, "Command:allow-fixed-modules").Spec.(*resource.Command)
		return c
	}
	c := command(known)
	if c == nil {
		t.Fatal("nothing is taken out")
	}
	for name, other := range map[string]facts.Facts{
		"nothing is denied":        {OS: known.OS, Kernel: known.Kernel},
		"only what is not AKS's":   {OS: known.OS, Kernel: known.Kernel, DeniedModules: []string{"cramfs"}},
		"the kernel lacks the fix": {OS: known.OS, Kernel: "5.15.0-1115-azure", DeniedModules: known.DeniedModules},
		"a release without fixes":  {OS: facts.OS{ID: "azurelinux", VersionID: "3.0"}, Kernel: known.Kernel, DeniedModules: known.DeniedModules},
	} {
		if command(other) != nil {
			t.Errorf("%s: rules are taken out", name)
		}
	}
	dir := t.TempDir()
	files := map[string]string{
		"disable-esp4.conf": "install esp4 /bin/false\nblacklist esp4\n",
		"CIS.conf":          "install cramfs /bin/true\n\tinstall algif-aead  /bin/true\nblacklist esp4x\nblacklist esp6\ninstall esp4 modprobe -i esp4\n",
		"other.txt":         "blacklist esp4\n",
	}
	for name, content := range files {
		if err := os.WriteFile(dir+"/"+name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(argv []string) string {
		argv = slices.Clone(argv)
		argv[slices.Index(argv, facts.ModprobeDir)] = dir
		output, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v: %s", argv, err, output)
		}
		return string(output)
	}
	for _, done := range []bool{false, true, true} {
		if got := c.Done.In([]byte(run(c.Done.Argv))); got != done {
			t.Fatalf("done: %v, want %v", got, done)
		}
		run(c.Argv)
	}
	files["disable-esp4.conf"] = facts.FixedRule + "install esp4 /bin/false\n" + facts.FixedRule + "blacklist esp4\n"
	files["CIS.conf"] = strings.Replace(files["CIS.conf"], "\tinstall algif", facts.FixedRule+"\tinstall algif", 1)
	for name, want := range files {
		if got, err := os.ReadFile(dir + "/" + name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
