package scenario

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/slipway-dev/slipway/test/e2e/lab"
	"github.com/slipway-dev/slipway/test/e2e/parts"
)

// publishArgs are programs of Kubernetes that the registry of an isolated cluster has.
type publishArgs struct {
	// Programs are "kubelet" and "kubectl".
	Programs []string `yaml:"programs"`
	// OSVersion is that of the machines that the packages are for: "debian 12".
	OSVersion string `yaml:"osVersion"`
	// Damaged says that they come with one bit changed.
	Damaged bool `yaml:"damaged"`
	// Refused says that the registry refuses the machine's identity from now on.
	Refused bool `yaml:"refused"`
}

// publish puts each program into the registry as a package of Debian, under the name that AKS gives it.
func (r *caseRun) publish(ctx context.Context, args publishArgs) error {
	for _, program := range args.Programs {
		deb, err := r.debianPackage(ctx, program)
		if err != nil {
			return err
		}
		err = r.Lab.Isolated.Publish(ctx, lab.Package{
			Repository: "aks/packages/kubernetes/" + program, Tag: "v" + parts.Kubernetes,
			Title: program + "_" + parts.Kubernetes + ".deb", Type: "application/vnd.debian.binary-package", Content: deb,
			Architecture: runtime.GOARCH, OSVersion: args.OSVersion, Damaged: args.Damaged,
		})
		if err != nil {
			return err
		}
	}
	if args.Refused {
		r.Lab.Isolated.Refuse()
	}
	return nil
}

// debianPackage makes a package with one program, as those of Kubernetes have it.
func (r *caseRun) debianPackage(ctx context.Context, program string) ([]byte, error) {
	dir, err := os.MkdirTemp(r.Lab.Dir(), "package-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	root, deb := filepath.Join(dir, "root"), filepath.Join(dir, program+".deb")
	control := fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: e2e <e2e@example.com>\nDescription: a program of Kubernetes\n",
		program, parts.Kubernetes, runtime.GOARCH)
	for _, step := range []func() error{
		func() error { return os.MkdirAll(filepath.Join(root, "DEBIAN"), 0o755) },
		func() error { return os.MkdirAll(filepath.Join(root, "usr", "bin"), 0o755) },
		func() error { return os.WriteFile(filepath.Join(root, "DEBIAN", "control"), []byte(control), 0o644) },
		func() error {
			return os.Link(filepath.Join(r.Lab.Parts.Kubernetes, program), filepath.Join(root, "usr", "bin", program))
		},
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	// Little is gained by a better compression, and the machine has to undo it.
	if out, err := exec.CommandContext(ctx, "dpkg-deb", "--build", "--root-owner-group", "-Zgzip", "-z1", root, deb).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make a package of %s: %w: %s", program, err, out)
	}
	return os.ReadFile(deb)
}
