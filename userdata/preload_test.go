package userdata

import (
	"strings"
	"testing"
)

// TestBoothookPreload: the image's own script that warms its caches runs in parallel, has none of cloud-init's files open, and its
// failure changes nothing. A provisioned machine does not run it.
func TestBoothookPreload(t *testing.T) {
	for _, shell := range shells() {
		m := newMachine(t, aksUnit)
		m.shell = shell
		m.write("/opt/azure/containers/provision_preload.sh", `echo "$BASH" noise; cd '`+m.etc+`'
{ umask; readlink /proc/$$/fd/0 /proc/$$/fd/2; } >preloaded.new; mv preloaded.new preloaded; exit 1`, 0o644)
		m.mustRun(aksContract)
		if got, want := m.await("preloaded"), "0022\n/dev/null\n/dev/null\n"; got != want {
			t.Errorf("%s: the script was given %q, want %q", shell, got, want)
		}
		m.checkNode(aksContract)
		if got := m.calls(); got != startedAKS {
			t.Errorf("%s: systemctl was asked: %s", shell, got)
		}
		if strings.Contains(m.out, "noise") {
			t.Errorf("%s: the script's output is in cloud-init's: %s", shell, m.out)
		}
	}
	const script = "provision_preload.sh"
	if head := boothooks[AKSPath].head; strings.Index(head, script) < strings.Index(head, "exit 0") || strings.Index(head, script) > strings.Index(head, "\nput '/") {
		t.Errorf("it does not run after the look for a node, and before the contract is written: %s", head)
	}
	if native := boothooks[NativePath].head; strings.Contains(native, script) {
		t.Errorf("a node of another family runs it: %s", native)
	}
}
