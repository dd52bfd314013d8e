package parts

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// kubernetesFlags set a program's version; without them it is v0.0.0.
func kubernetesFlags(version string) string {
	return strings.Join([]string{
		"-X k8s.io/component-base/version.gitVersion=v" + version,
		"-X k8s.io/component-base/version.gitMajor=1",
		"-X k8s.io/component-base/version.gitMinor=" + strings.Split(version, ".")[1],
		"-X k8s.io/component-base/version.gitTreeState=clean",
	}, " ")
}

// KubernetesBinaries returns a directory with the kubelet of a version, and with the control plane and kubectl, if they are of the version's module.
func (s *Store) KubernetesBinaries(ctx context.Context, version string) (string, error) {
	module := kubernetesModules[version]
	if module == "" {
		return "", fmt.Errorf("no module has Kubernetes %s: want one of %s", version, strings.Join(slices.Sorted(maps.Keys(kubernetesModules)), ", "))
	}
	return s.modules(ctx, module, "k8s.io/kubernetes v"+version, kubernetesFlags(version))
}

// EtcdBinary returns a directory with etcd, under the name "etcd".
func (s *Store) EtcdBinary(ctx context.Context) (string, error) {
	dir, err := s.modules(ctx, "etcd", "go.etcd.io/etcd/server/v3 v"+Etcd, "")
	if err != nil {
		return "", err
	}
	return dir, nil
}

func (s *Store) Containerd(ctx context.Context) (string, error) {
	flags := "-X github.com/containerd/containerd/v2/version.Version=v" + Containerd
	return s.modules(ctx, "containerd", "github.com/containerd/containerd/v2 v"+Containerd, flags)
}

func (s *Store) CNI(ctx context.Context) (string, error) {
	return s.modules(ctx, "cni", "github.com/containernetworking/plugins v"+CNI, "")
}

// CoreDNS returns a directory with CoreDNS, under the name "coredns".
func (s *Store) CoreDNS(ctx context.Context) (string, error) {
	return s.modules(ctx, "coredns", "github.com/coredns/coredns v"+CoreDNS, "", ".")
}

// onDemand are programs that few cases need, and that take long to build.
var onDemand = map[string]func(*Store, context.Context) (string, error){
	"aws-iam-authenticator":   (*Store).authenticator,
	"ecr-credential-provider": (*Store).ecrProvider,
	"ignition":                (*Store).ignition,
	"karpenter":               (*Store).karpenter,
	"karpenter-newer":         (*Store).newerKarpenter,
	"kubeadm":                 (*Store).kubeadm,
	PauseArchive:              (*Store).pauseArchive,
	Packages:                  (*Store).packages,
	Slipway:                   (*Store).slipway,
}

// Program returns a directory with a program that only some cases need, under its name.
func (s *Store) Program(ctx context.Context, name string) (string, error) {
	build := onDemand[name]
	if build == nil {
		return "", fmt.Errorf("there is no program %q: want one of %s", name, strings.Join(slices.Sorted(maps.Keys(onDemand)), ", "))
	}
	return build(s, ctx)
}

// Slipway is the program under test for people.
const Slipway = "slipway"

// slipway returns a directory with it. [Store.Agent] builds it for each run.
func (s *Store) slipway(context.Context) (string, error) { return filepath.Join(s.Dir, "bin"), nil }

// authenticator returns a directory with aws-iam-authenticator, which is a node's credential plug-in and the cluster's webhook.
func (s *Store) authenticator(ctx context.Context) (string, error) {
	return s.modules(ctx, "authenticator", "sigs.k8s.io/aws-iam-authenticator v"+Authenticator, "")
}

// ecrProvider returns a directory with ecr-credential-provider, which EKS's images have.
func (s *Store) ecrProvider(ctx context.Context) (string, error) {
	return s.modules(ctx, "ecrprovider", "k8s.io/cloud-provider-aws v"+CloudProviderAWS, "")
}

// kubeadm returns a directory with kubeadm. It has a separate module beside that of the control plane's programs, so that only
// kubeadm is rebuilt when it changes.
func (s *Store) kubeadm(ctx context.Context) (string, error) {
	return s.modules(ctx, "kubeadm", "k8s.io/kubernetes v"+Kubernetes, kubernetesFlags(Kubernetes))
}

// ignitionFlags set its version, and that the machines have no SELinux, as distributions do (Ignition: internal/distro/distro.go).
const ignitionFlags = "-s -w -X github.com/coreos/ignition/v2/internal/version.Raw=v" + Ignition +
	" -X github.com/coreos/ignition/v2/internal/distro.selinuxRelabel=false"

// ignition returns a directory with Ignition, under the name "ignition". It is the only program here that needs a C compiler, and a
// library that detects file systems, whose headers the test's machine may lack.
func (s *Store) ignition(ctx context.Context) (string, error) {
	source, err := s.pinned("ignition", "github.com/coreos/ignition/v2 v"+Ignition)
	if err != nil {
		return "", err
	}
	return s.part(ctx, recipe{
		name:   "ignition",
		inputs: []string{"1", runtime.Version(), Suite, ignitionFlags},
		files:  []string{source},
		make: func(ctx context.Context, dir string) error {
			headers := filepath.Join(dir, "headers")
			if err := unpackPackage(ctx, "libblkid-dev", dir, headers); err != nil {
				return err
			}
			libraries, err := filepath.Glob(filepath.Join(headers, "usr", "lib", "*", "libblkid.a"))
			if err != nil || len(libraries) != 1 {
				return fmt.Errorf("libblkid-dev holds %d libraries, want one", len(libraries))
			}
			env := []string{
				"CGO_ENABLED=1", "CGO_CFLAGS=-I" + filepath.Join(headers, "usr", "include"), "CGO_LDFLAGS=-L" + filepath.Dir(libraries[0]),
				"GOFLAGS=-buildvcs=false",
			}
			if err := run(ctx, source, env, "go", "build", "-trimpath", "-ldflags", ignitionFlags, "-o", filepath.Join(dir, "ignition"), "tool"); err != nil {
				return err
			}
			return os.RemoveAll(headers)
		},
	})
}

// karpenter returns a directory with the core of Karpenter and Slipway's provider in one program. It is not cached here, because it
// consists of the repository's code, and Go's own cache is enough.
func (s *Store) karpenter(ctx context.Context) (string, error) {
	return s.karpenterAs(ctx, "karpenter")
}

// newerKarpenter returns a directory with the same program, built as another version of it and of Slipway.
func (s *Store) newerKarpenter(ctx context.Context) (string, error) {
	return s.karpenterAs(ctx, "karpenter-newer")
}

// karpenterAs builds the program under a name, which is also its version. It needs a newer Go than the rest of the repository.
// GOTOOLCHAIN=auto lets go download that.
func (s *Store) karpenterAs(ctx context.Context, name string) (string, error) {
	dir := filepath.Join(s.Dir, "bin")
	flags := "-s -w -X main.version=" + name + " -X github.com/slipway-dev/slipway/internal/cli.Version=" + name
	env := []string{"CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOTOOLCHAIN=auto"}
	return dir, run(ctx, filepath.Join(s.Repo, "test", "e2e", "karpenter"), env,
		"go", "build", "-trimpath", "-ldflags", flags, "-o", filepath.Join(dir, name), "./cmd/karpenter")
}

// modules builds packages of one of the modules below test/e2e/modules. Without packages, it builds the module's tools.
func (s *Store) modules(ctx context.Context, name, pin, flags string, packages ...string) (string, error) {
	source, err := s.pinned(name, pin)
	if err != nil {
		return "", err
	}
	return s.part(ctx, recipe{
		name:   name,
		inputs: []string{runtime.Version(), flags},
		files:  []string{source},
		make: func(ctx context.Context, dir string) error {
			if len(packages) == 0 {
				packages = []string{"tool"}
			}
			return goBuild(ctx, source, dir, flags, packages...)
		},
	})
}

// pinned is the directory of one of the modules below test/e2e/modules, which must require the version in versions.go.
func (s *Store) pinned(name, pin string) (string, error) {
	source := filepath.Join(s.Repo, "test", "e2e", "modules", name)
	mod := filepath.Join(source, "go.mod")
	content, err := os.ReadFile(mod)
	if err != nil {
		return "", err
	}
	if !strings.Contains(string(content), pin+"\n") && !strings.Contains(string(content), pin+" // indirect\n") {
		return "", fmt.Errorf("%s does not require %q: bring it and test/e2e/parts/versions.go together", mod, pin)
	}
	return source, nil
}

// goBuild builds static, stripped programs.
func goBuild(ctx context.Context, source, into, flags string, packages ...string) error {
	argv := []string{"go", "build", "-trimpath", "-ldflags", "-s -w " + flags, "-o", into + "/"}
	return run(ctx, source, []string{"CGO_ENABLED=0", "GOFLAGS=-buildvcs=false"}, append(argv, packages...)...)
}

// Agent builds the programs under test, slipway and slipway-node, as they are delivered: with the Makefile's own flags, because
// other flags give another program. It is not cached here, because Go's own cache is enough; the directory is the caller's.
func (s *Store) Agent(ctx context.Context, into string) error {
	return run(ctx, s.Repo, []string{"GOFLAGS=-buildvcs=false"}, "make", "build", "BIN="+into, "VERSION=e2e")
}
