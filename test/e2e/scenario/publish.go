package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/slipway-dev/slipway/test/e2e/lab"
	"github.com/slipway-dev/slipway/test/e2e/parts"
)

// publishArgs are packages in the registry of an air-gapped cluster.
type publishArgs struct {
	// Programs are "kubelet", "kubectl", and "containerd" with its shim.
	Programs []string `yaml:"programs"`
	// OSVersion is the OS of the packages' machines: "debian 12".
	OSVersion string `yaml:"osVersion"`
	// Damaged changes one bit of each served package.
	Damaged bool `yaml:"damaged"`
	// Refused makes the registry refuse the machine's identity from now on.
	Refused bool `yaml:"refused"`
}

// published is a package's name and content. Kubernetes' packages have AKS's names.
type published struct {
	repository, version string
	dir                 func(lab.Parts) string
	programs            []string
}

func kubernetes(p lab.Parts) string { return p.Kubernetes }

var packages = map[string]published{
	"kubelet": {"aks/packages/kubernetes/kubelet", parts.Kubernetes, kubernetes, []string{"kubelet"}},
	"kubectl": {"aks/packages/kubernetes/kubectl", parts.Kubernetes, kubernetes, []string{"kubectl"}},
	"containerd": {
		"aks/packages/containerd", parts.Containerd, func(p lab.Parts) string { return p.Containerd },
		[]string{"containerd", "containerd-shim-runc-v2"},
	},
}

// publish pushes Debian packages to the registry.
func (r *caseRun) publish(ctx context.Context, args publishArgs) error {
	for _, name := range args.Programs {
		p, known := packages[name]
		if !known {
			return fmt.Errorf("there is no package of %s", name)
		}
		deb, err := r.debianPackage(ctx, name, &p)
		if err != nil {
			return err
		}
		err = r.Lab.Isolated.Publish(ctx, lab.Package{
			Repository: p.repository, Tag: "v" + p.version,
			Title: name + "_" + p.version + ".deb", Type: "application/vnd.debian.binary-package", Content: deb,
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

// debianPackage makes a package with programs in /usr/bin.
func (r *caseRun) debianPackage(ctx context.Context, name string, p *published) ([]byte, error) {
	from := p.dir(r.Lab.Parts)
	dir, err := os.MkdirTemp(r.dir, "package-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	root, deb := filepath.Join(dir, "root"), filepath.Join(dir, name+".deb")
	bin, control := filepath.Join(root, "usr", "bin"), filepath.Join(root, "DEBIAN")
	text := fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: e2e <e2e@example.com>\nDescription: a program of a node\n",
		name, p.version, runtime.GOARCH)
	err = errors.Join(os.MkdirAll(control, 0o755), os.MkdirAll(bin, 0o755), os.WriteFile(filepath.Join(control, "control"), []byte(text), 0o644))
	for _, program := range p.programs {
		err = errors.Join(err, os.Link(filepath.Join(from, program), filepath.Join(bin, program)))
	}
	if err != nil {
		return nil, err
	}
	// A better compression gains little, and the machine would need longer to decompress.
	if out, err := exec.CommandContext(ctx, "dpkg-deb", "--build", "--root-owner-group", "-Zgzip", "-z1", root, deb).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make a package of %s: %w: %s", name, err, out)
	}
	return os.ReadFile(deb)
}
