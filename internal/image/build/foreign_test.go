package build

import (
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/image/spec"
)

// TestProcessors demands a program for each architecture of images, and that this machine runs its own one.
func TestProcessors(t *testing.T) {
	for _, name := range spec.Architectures {
		if processors[name].ends == nil {
			t.Errorf("no program for %s", name)
		}
	}
	if _, err := exec.LookPath("unshare"); err != nil || !slices.Contains(spec.Architectures, runtime.GOARCH) {
		t.Skip("no unshare, or no architecture of images")
	}
	// The kernel makes no user namespace for a program in a chroot, for example (clone(2), EPERM).
	if err := exec.Command("unshare", "--map-root-user", "true").Run(); err != nil && os.Geteuid() != 0 {
		t.Skipf("user namespaces are needed: unshare: %v", err)
	}
	if err := processors[runtime.GOARCH].run(t.Context()); err != nil {
		t.Errorf("a program of this machine: %v", err)
	}
	// No machine that builds images runs or emulates it.
	other := processor{elf.EM_VAX, processors[runtime.GOARCH].ends}
	var exit *exec.ExitError
	if err := other.run(t.Context()); !errors.As(err, &exit) || exit.ExitCode() < notRun {
		t.Errorf("a program of another machine: %v", err)
	}
}
