package parts

import (
	"context"
	"debug/pe"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// BuiltFormats are the disks of a built image, by the name of their format, with QEMU's name of it.
var BuiltFormats = map[string]string{"raw": "raw", "qcow2": "qcow2", "vhd": "vpc"}

// builtComponents is components.yaml of a built image, for the directory that has the files. The snapshot is the time of its files;
// the packages come from the mirror.
const builtComponents = `apiVersion: slipway.dev/v1
kind: ImageComponents
architectures: [amd64]
base: {suite: %s, snapshot: 20261101T000000Z}
components:
  - {name: kubelet, version: "%s", sources: [./kubelet]}
  - {name: containerd, version: "%s", sources: [./containerd.tar.gz]}
  - {name: runc, version: "1", sources: [./runc]}
  - {name: cni-plugins, version: "%s", sources: [./cni.tgz]}
  - {name: slipway-node, version: "1", sources: [./slipway-node]}
  - {name: cni-configuration, kind: file, version: "1", license: Apache-2.0, sources: [./10-bridge.conflist],
     files: [{path: /etc/cni/net.d/10-bridge.conflist, mode: "0644"}]}
  - {name: acr-credential-provider, kind: file, version: "1", license: Apache-2.0, sources: [./acr-credential-provider],
     files: [{path: /var/lib/kubelet/credential-provider/acr-credential-provider}]}
  - {name: aks-image-marker, kind: file, version: "1", license: Apache-2.0, sources: [./vhd-install.complete],
     files: [{path: /opt/azure/vhd-install.complete, mode: "0644"}]}
`

// Built returns a directory with a node image that "slipway image build" has made: output/node.raw and the other formats. It has
// a release of Debian, and boots by UEFI.
func (s *Store) Built(ctx context.Context, binaries, suite string) (string, error) {
	kubernetes, err := s.KubernetesBinaries(ctx, Kubernetes)
	if err != nil {
		return "", err
	}
	containerd, err := s.Containerd(ctx)
	if err != nil {
		return "", err
	}
	cni, err := s.CNI(ctx)
	if err != nil {
		return "", err
	}
	files := filepath.Join(s.Repo, "test", "e2e", "image", "files")
	base := filepath.Join(s.Repo, "test", "e2e", "image", "base", bases[ContainerdBuilt])
	slipway, agent := filepath.Join(binaries, "slipway"), filepath.Join(binaries, "slipway-node")
	return s.part(ctx, recipe{
		name:   "built-" + suite,
		inputs: []string{"2", builtComponents, suite, kubernetes, containerd, cni},
		files:  []string{slipway, agent, files, base},
		make: func(ctx context.Context, dir string) error {
			if err := unpackPackage(ctx, "runc", dir, filepath.Join(dir, "package")); err != nil {
				return err
			}
			document := fmt.Sprintf(builtComponents, suite, Kubernetes, Containerd, CNI)
			if err := os.WriteFile(filepath.Join(dir, "components.yaml"), []byte(document), 0o644); err != nil {
				return err
			}
			for from, to := range map[string]string{
				filepath.Join(kubernetes, "kubelet"):        "kubelet",
				filepath.Join(dir, "package/usr/sbin/runc"): "runc",
				agent: "slipway-node",
				filepath.Join(files, "etc/cni/net.d/10-bridge.conflist"):                            "10-bridge.conflist",
				filepath.Join(files, "var/lib/kubelet/credential-provider/acr-credential-provider"): "acr-credential-provider",
			} {
				if err := copyFile(from, filepath.Join(dir, to), 0o755); err != nil {
					return err
				}
			}
			// AKS's nodes are made of images that have this file.
			if err := os.WriteFile(filepath.Join(dir, "vhd-install.complete"), []byte("slipway\n"), 0o644); err != nil {
				return err
			}
			cache := filepath.Join(s.Dir, "slipway-cache")
			for _, argv := range [][]string{
				{"tar", "-C", containerd, "--transform=s,^\\./,bin/,", "-czf", "containerd.tar.gz", "."},
				{"tar", "-C", cni, "-czf", "cni.tgz", "."},
				{slipway, "image", "lock", "--cache", filepath.Join(cache, "image")},
				{slipway, "image", "build", "--cache", filepath.Join(cache, "image"), "--dir", "image", "--mirror", mirror, "--provision-config", base,
					"--format", "qcow2", "--format", "vhd"},
			} {
				if err := run(ctx, dir, nil, argv...); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

// mirror is the archive that the machine of the test gets packages from.
const mirror = "http://deb.debian.org/debian"

// BuiltDisk is the disk of a built image in a format.
func BuiltDisk(built, format string) string {
	return filepath.Join(built, "image", "output", "node."+format)
}

// BuiltKernel is the kernel of a built image with its initial RAM disk, and the arguments that the image's boot loader gives it.
func BuiltKernel(built string) (kernel, initrd, args string, err error) {
	output := filepath.Join(built, "image", "output")
	unified, err := pe.Open(filepath.Join(output, "node.efi"))
	if err != nil {
		return "", "", "", err
	}
	defer unified.Close()
	section := unified.Section(".cmdline") // systemd-stub(7)
	if section == nil {
		return "", "", "", errors.New("node.efi has no command line of a kernel")
	}
	line, err := section.Data()
	return filepath.Join(output, "node.vmlinuz"), filepath.Join(output, "node.initrd"), strings.Trim(string(line), "\x00 \n"), err
}

// Firmware installs the UEFI firmware if it is missing, and returns its path.
func (s *Store) Firmware(ctx context.Context) (string, error) {
	const code = "/usr/share/OVMF/OVMF_CODE_4M.fd"
	if _, err := os.Stat(code); err == nil {
		return code, nil
	}
	return code, s.install(ctx, "ovmf")
}
