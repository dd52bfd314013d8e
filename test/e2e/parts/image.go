package parts

import (
	"bytes"
	"context"
	"debug/pe"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/test/e2e/registry"
)

// The kinds of containerd that an image can have.
const (
	ContainerdBuilt  = "2"
	ContainerdDebian = "1.6"
)

// Image is a node image, which "slipway image build" makes.
type Image struct {
	// Suite is its release of Debian, Containerd its kind of containerd, and Kubelet the version of its kubelet. SecondKubelet is the
	// version of another kubelet beside it; it may be empty.
	Suite, Containerd, Kubelet, SecondKubelet string
	// Plain is whether it has what an image of a cloud's own nodes has. The others have cloud-init, the images of pods, and programs
	// of cases, too, and their watcher does not start by itself, because it would repair what the cases break.
	Plain bool
	// Signed is whether its boot loader and its kernel are signed, with the key that [SecureVariables] knows.
	Signed bool
	// Tree is whether its distribution comes from a tree that another program has made, and not from mkosi.
	Tree bool
	// Stock is whether it is the distribution's usual image, with the components baked into it, and not what mkosi makes.
	Stock bool
}

// Name is the name of the image's part.
func (i Image) Name() string {
	name := "image-containerd" + i.Containerd
	if i.Plain {
		name = "image-plain-" + i.Suite
	}
	if i.Signed {
		name += "-signed"
	}
	if i.Tree {
		name += "-tree"
	}
	if i.Stock {
		name += "-stock"
	}
	if i.Kubelet != Kubernetes {
		name += "-kubelet" + i.Kubelet
	}
	if i.SecondKubelet != "" {
		name += "-and" + i.SecondKubelet
	}
	return name
}

// Formats are the formats of a plain image's disk, with QEMU's names of them.
var Formats = map[string]string{"raw": "raw", "qcow2": "qcow2", "vhd": "vpc"}

// mirror is the archive that the machine of the test gets packages from.
const mirror = "http://deb.debian.org/debian"

// bases are the contracts of the base phase, by the image's kind of containerd: AKS's nodes have containerd 2, and those of other
// clouds the distribution's. A base has no cluster and no secret.
var bases = map[string]string{
	ContainerdBuilt:  "aks.json",
	ContainerdDebian: "native.yaml",
}

// Image returns a directory with a node image. binaries has slipway and slipway-node.
func (s *Store) Image(ctx context.Context, image Image, binaries string) (string, error) {
	in, err := s.imageInputs(ctx, image, binaries)
	if err != nil {
		return "", err
	}
	// The address of the registry, which is another one each time, and the directories are not inputs.
	document, err := in.document("registry", ".")
	if err != nil {
		return "", err
	}
	slipway := filepath.Join(binaries, "slipway")
	return s.part(ctx, recipe{
		name:   image.Name(),
		inputs: append([]string{"1", strings.ReplaceAll(string(document), s.Dir, ""), filepath.Base(in.payload), holdScript}, in.packages()...),
		files:  append([]string{slipway, in.agent, in.base}, in.trees...),
		make:   func(ctx context.Context, dir string) error { return s.makeImage(ctx, dir, slipway, in) },
	})
}

// again is whether slipway makes the image a second time, which has to give the same files: so for one with container images, and one
// without. No case of "make e2e" boots these two, so its machines do not wait for it.
func (i Image) again() bool {
	return i.SecondKubelet != "" || i.Plain && i.Suite == Suite
}

// packages are those of a distribution that mkosi does not install.
func (i Image) packages() []string {
	switch {
	case i.Stock:
		return stockPackages
	case i.Tree:
		return treePackages
	}
	return nil
}

// treePackages are the packages of a tree.
var treePackages = []string{
	"busybox-static", "ca-certificates", "conntrack", "dbus", "e2fsprogs", "iproute2", "iptables", "kmod", "linux-image-cloud-amd64", "mount", "nftables",
	"procps", "socat", "systemd", "systemd-boot", "systemd-boot-efi", "systemd-repart", "systemd-resolved", "systemd-sysv", "systemd-timesyncd", "udev",
}

// makeImage builds the image in a directory, as a user does.
func (s *Store) makeImage(ctx context.Context, dir, slipway string, in *imageInputs) error {
	images := registry.Empty()
	server := httptest.NewTLSServer(images)
	defer server.Close()
	certificate := filepath.Join(dir, "registry.crt")
	if err := os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o644); err != nil {
		return err
	}
	if err := in.push(ctx, images); err != nil {
		return err
	}
	document, err := in.document(server.Listener.Addr().String(), dir)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "components.yaml"), document, 0o644); err != nil {
		return err
	}
	base, err := os.ReadFile(in.base)
	if err != nil {
		return err
	}
	contract := filepath.Join(dir, filepath.Base(in.base))
	if err := os.WriteFile(contract, bytes.ReplaceAll(base, []byte(Kubernetes), []byte(in.Kubelet)), 0o600); err != nil {
		return err
	}
	if err := in.archives(ctx, dir); err != nil {
		return err
	}
	build := []string{slipway, "image", "build", "--dir", "image", "--mirror", mirror, "--provision-config", contract}
	if in.Plain && !in.Signed {
		build = append(build, "--format", "qcow2", "--format", "vhd")
	}
	if in.Signed {
		if err := run(ctx, dir, nil, "openssl", "rsa", "-in", snakeoilKey, "-passin", "pass:snakeoil", "-out", "secure-boot.key"); err != nil {
			return err
		}
		build = append(build, "--secure-boot-key", "secure-boot.key", "--secure-boot-certificate", snakeoilCertificate)
	}
	env := []string{"SSL_CERT_FILE=" + certificate, "XDG_CACHE_HOME=" + s.Dir}
	if in.Tree {
		if err := in.makeTree(ctx, dir); err != nil {
			return err
		}
		build, env = append(build, "--tree", "tree"), append(env, "SOURCE_DATE_EPOCH=1793491200")
	}
	if err := run(ctx, dir, env, slipway, "image", "lock"); err != nil {
		return err
	}
	if in.Stock {
		if err := s.makeStock(ctx, dir, slipway, in, contract, env); err != nil {
			return err
		}
		return in.clean(dir)
	}
	steps := [][]string{build}
	if in.Plain && !in.Signed {
		steps = append(steps, []string{slipway, "image", "verify", "--lock", "components.lock", Disk(".", "qcow2")})
	}
	if in.again() {
		steps = append(steps, []string{slipway, "image", "verify", "--rebuild", "--mirror", mirror, Disk(".", "raw")})
	}
	for _, argv := range steps {
		if err := run(ctx, dir, env, argv...); err != nil {
			return err
		}
	}
	if !in.Plain {
		if err := leaveWatcherOff(ctx, Disk(dir, "raw")); err != nil {
			return err
		}
	}
	if err := holdInitrd(ctx, dir); err != nil {
		return err
	}
	return in.clean(dir)
}

// makeTree makes a tree as another program does.
func (in *imageInputs) makeTree(ctx context.Context, dir string) error {
	err := run(ctx, dir, nil, "mmdebstrap", "--variant=minbase", "--include="+strings.Join(in.packages(), ","), in.Suite, "tree", mirror)
	if err != nil {
		return err
	}
	return run(ctx, dir, nil, "find", "tree/dev", "-mindepth", "1", "-delete")
}

// clean removes what an image is made of.
func (in *imageInputs) clean(dir string) error {
	return removeAll(dir, "tree", "image/components", archives[0], archives[1], archives[2])
}

// leaveWatcherOff disables the watcher in an image.
func leaveWatcherOff(ctx context.Context, disk string) error {
	_, messages, err := debugfs(ctx, disk, "-w", "-R", "rm /etc/systemd/system/multi-user.target.wants/slipway-watch.service")
	if err == nil && len(messages) > 0 {
		err = fmt.Errorf("disable the watcher in %s: %s", disk, messages[0])
	}
	return err
}

// Disk is the disk of an image in a format.
func Disk(image, format string) string {
	return filepath.Join(image, "image", "output", "node."+format)
}

// Kernel is the kernel of an image with its initial RAM disk and the arguments that the image's boot loader gives it. held is the initial RAM
// disk with which the kernel can be held (see holdScript).
func Kernel(image string) (kernel, initrd, held, args string, err error) {
	kernel, initrd, held = Disk(image, "vmlinuz"), Disk(image, "initrd"), filepath.Join(image, heldInitrd)
	if line, err := os.ReadFile(Disk(image, "cmdline")); err == nil { // a stock image has no unified kernel
		return kernel, initrd, held, string(line), nil
	}
	unified, err := pe.Open(Disk(image, "efi"))
	if err != nil {
		return "", "", "", "", err
	}
	defer unified.Close()
	section := unified.Section(".cmdline") // systemd-stub(7)
	if section == nil {
		return "", "", "", "", errors.New("node.efi has no command line of a kernel")
	}
	line, err := section.Data()
	return kernel, initrd, held, strings.Trim(string(line), "\x00 \n"), err
}

// The UEFI firmware of Debian's package ovmf. SecureFirmware boots only what is signed, with a key that its variables know. Those of
// SecureVariables know the key of Debian's tests, which is in the package.
const (
	Firmware            = "/usr/share/OVMF/OVMF_CODE_4M.fd"
	SecureFirmware      = "/usr/share/OVMF/OVMF_CODE_4M.secboot.fd"
	SecureVariables     = "/usr/share/OVMF/OVMF_VARS_4M.snakeoil.fd"
	snakeoilKey         = "/usr/share/ovmf/PkKek-1-snakeoil.key"
	snakeoilCertificate = "/usr/share/ovmf/PkKek-1-snakeoil.pem"
)

// InstallFirmware installs the firmware if it is missing.
func (s *Store) InstallFirmware(ctx context.Context) error {
	if _, err := os.Stat(Firmware); err == nil {
		return nil
	}
	return s.install(ctx, "ovmf")
}
