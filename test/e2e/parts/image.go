package parts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/image/mkosi"
)

// The kinds of containerd that an image can hold.
const (
	ContainerdBuilt  = "2"
	ContainerdDebian = "1.6"
)

// diskSize is the size of a node's disk; the file is sparse.
const diskSize = "4G"

// interfaceNames is the file that keeps the kernel's names of network interfaces, as built images have it.
const interfaceNames = "etc/systemd/network/10-kernel-names.link"

// imageInputs are the parts of an image.
type imageInputs struct {
	kernel, rootfs, kubernetes, containerd, cni, coredns, payload, client, agent, names, files, units, base string
	containerdVersion, kubelet                                                                              string
}

// Image returns a directory with a node's disk in the shape of a real node image, disk.img: binaries
// at versioned paths, a component manifest, enabled units, the base phase of a contract applied, images in
// the container runtime's store.
// agent is the image's slipway-node, runtime its kind of containerd, and kubelet the kubelet's version.
func (s *Store) Image(ctx context.Context, agent, runtime, kubelet string) (string, error) {
	kubernetes := func(ctx context.Context) (string, error) { return s.KubernetesBinaries(ctx, kubelet) }
	in := imageInputs{agent: agent, kubelet: kubelet,
		names: filepath.Join(s.Repo, "internal", "image", "mkosi", "tree", interfaceNames), files: filepath.Join(s.Repo, "test", "e2e", "image", "files"),
		units: filepath.Join(s.Repo, "dist", "systemd"), base: filepath.Join(s.Repo, "test", "e2e", "image", "base", bases[runtime])}
	containerd := s.Containerd
	in.containerdVersion = Containerd
	if runtime == ContainerdDebian {
		containerd, in.containerdVersion = s.DebianContainerd, ""
	}
	for _, part := range []struct {
		dir  *string
		make func(context.Context) (string, error)
	}{
		{&in.kernel, s.Kernel}, {&in.rootfs, s.RootFS}, {&in.kubernetes, kubernetes},
		{&in.containerd, containerd}, {&in.cni, s.CNI}, {&in.coredns, s.CoreDNS}, {&in.payload, s.Payload},
		{&in.client, s.BootstrapClient},
	} {
		dir, err := part.make(ctx)
		if err != nil {
			return "", err
		}
		*part.dir = dir
	}
	name := "image-containerd" + runtime
	if kubelet != Kubernetes {
		name += "-kubelet" + kubelet
	}
	return s.part(ctx, recipe{
		name:   name,
		inputs: []string{"13", in.kernel, in.rootfs, in.kubernetes, in.containerd, in.cni, in.coredns, in.payload, in.client, diskSize},
		files:  []string{in.agent, in.names, in.files, in.units, in.base},
		make:   func(ctx context.Context, dir string) error { return makeImage(ctx, dir, in) },
	})
}

// makeImage writes the node's files and makes a disk of them.
func makeImage(ctx context.Context, dir string, in imageInputs) error {
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(root)
	tarball := filepath.Join(in.rootfs, "rootfs.tar")
	if err := run(ctx, dir, nil, "tar", "-xpf", tarball, "--numeric-owner", "--exclude=./dev/*", "-C", root); err != nil {
		return err
	}
	release, err := os.ReadFile(filepath.Join(in.kernel, "release"))
	if err != nil {
		return err
	}
	modules := filepath.Join(root, "usr", "lib", "modules")
	if err := os.MkdirAll(modules, 0o755); err != nil {
		return err
	}
	modules = filepath.Join(modules, string(release))
	if err := run(ctx, dir, nil, "cp", "-a", filepath.Join(in.kernel, "modules"), modules); err != nil {
		return err
	}
	if err := run(ctx, dir, nil, "chroot", root, "depmod", string(release)); err != nil {
		return err
	}
	if err := run(ctx, dir, nil, "cp", "-r", "--no-target-directory", "--remove-destination", in.files, root); err != nil {
		return err
	}
	if err := copyFile(in.names, filepath.Join(root, interfaceNames), 0o644); err != nil {
		return err
	}
	// The units are the delivered ones; a case that needs the watcher starts it.
	units := filepath.Join(root, "etc", "systemd", "system")
	if err := run(ctx, dir, nil, "cp", "-r", "--no-target-directory", in.units, units); err != nil {
		return err
	}
	manifest, err := installBinaries(root, in)
	if err != nil {
		return err
	}
	if err := writeManifest(root, manifest); err != nil {
		return err
	}
	if err := furnish(root, in.kubelet); err != nil {
		return err
	}
	if err := bake(ctx, root, in); err != nil {
		return err
	}
	if err := importImages(ctx, dir, root, in); err != nil {
		return err
	}
	disk := filepath.Join(dir, "disk.img")
	return run(ctx, dir, nil, "mkfs.ext4", "-q", "-F", "-L", "root", "-d", root, disk, diskSize)
}

// installBinaries copies the components to their paths, and returns their manifest.
func installBinaries(root string, in imageInputs) ([]components.Component, error) {
	runc, err := packageVersion(root, "runc")
	if err != nil {
		return nil, err
	}
	containerd := in.containerdVersion
	if containerd == "" {
		containerd = "1.6.20" // Debian's, of this suite
	}
	list := []struct{ name, version, from, to string }{
		{"kubelet", in.kubelet, filepath.Join(in.kubernetes, "kubelet"), "/opt/bin/kubelet-" + in.kubelet},
		{"runc", runc, filepath.Join(root, "usr", "sbin", "runc"), "/usr/bin/runc"},
		{bootstrapClient, "", filepath.Join(in.client, bootstrapClient), "/opt/bin/" + bootstrapClient},
		{"coredns", CoreDNS, filepath.Join(in.coredns, "coredns"), "/opt/azure/containers/localdns/binary/coredns"},
		{"slipway-node", "", in.agent, "/opt/slipway/bin/slipway-node"},
	}
	for _, name := range containerdBinaries {
		list = append(list, struct{ name, version, from, to string }{name, containerd, filepath.Join(in.containerd, name), "/usr/bin/" + name})
	}
	plugins, err := os.ReadDir(in.cni)
	if err != nil {
		return nil, err
	}
	for _, plugin := range plugins {
		name := plugin.Name()
		list = append(list, struct{ name, version, from, to string }{"cni-" + name, CNI, filepath.Join(in.cni, name), "/opt/cni/bin/" + name})
	}
	var manifest []components.Component
	for _, c := range list {
		if err := copyFile(c.from, filepath.Join(root, c.to), 0o755); err != nil {
			return nil, err
		}
		content, err := os.ReadFile(c.from)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(content)
		if c.version != "" {
			manifest = append(manifest, components.Component{Name: c.name, Version: c.version, Path: c.to, SHA256: hex.EncodeToString(sum[:])})
		}
	}
	return manifest, os.Remove(filepath.Join(root, "usr", "sbin", "runc"))
}

// packageVersion is the upstream version of a Debian package in a root file system.
func packageVersion(root, name string) (string, error) {
	database, err := os.ReadFile(filepath.Join(root, "var", "lib", "dpkg", "status"))
	if err != nil {
		return "", err
	}
	_, rest, found := strings.Cut(string(database), "Package: "+name+"\n")
	_, rest, hasVersion := strings.Cut(rest, "\nVersion: ")
	if !found || !hasVersion {
		return "", errors.New("package " + name + " is not in the root file system")
	}
	version := rest[:strings.IndexAny(rest, "\n+-")]
	return version, nil
}

func writeManifest(root string, list []components.Component) error {
	document, err := json.MarshalIndent(components.Manifest{
		APIVersion: components.APIVersion, Kind: components.Kind, Components: list,
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, components.Path), append(document, '\n'), 0o644)
}

// disabled are links with which packages enable their units. A case that needs such a unit has the link in its files.
var disabled = []string{
	"sysinit.target.wants/systemd-resolved.service", "multi-user.target.wants/systemd-resolved.service",
	"dbus-org.freedesktop.resolve1.service",
}

// furnish makes an image's links and empty files.
func furnish(root, kubelet string) error {
	for _, dir := range []string{"opt/azure/containers", "var/log/azure", "etc/systemd/system/multi-user.target.wants"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	units := "etc/systemd/system/"
	links := [][2]string{
		{"../../slipway/bin/slipway-node", "opt/azure/containers/aks-node-controller"},
		{"/opt/bin/kubelet-" + kubelet, "usr/bin/kubelet"},
		{"../slipway-provision.service", units + "multi-user.target.wants/slipway-provision.service"},
		{"../slipway-provision.path", units + "multi-user.target.wants/slipway-provision.path"},
		{"/lib/systemd/system/systemd-networkd.service", units + "multi-user.target.wants/systemd-networkd.service"},
		{"/lib/systemd/system/systemd-networkd.service", units + "dbus-org.freedesktop.network1.service"},
		{"/lib/systemd/system/systemd-networkd-wait-online.service", units + "network-online.target.wants/systemd-networkd-wait-online.service"},
	}
	for _, unit := range mkosi.Masked {
		links = append(links, [2]string{"/dev/null", units + unit})
	}
	for _, generator := range mkosi.MaskedGenerators {
		links = append(links, [2]string{"/dev/null", "etc/systemd/system-generators/" + generator})
	}
	for _, link := range links {
		path := filepath.Join(root, link[1])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		if err := os.Symlink(link[0], path); err != nil {
			return err
		}
	}
	for _, link := range disabled {
		if err := os.RemoveAll(filepath.Join(root, units, link)); err != nil {
			return err
		}
	}
	for name, content := range map[string]string{
		"opt/azure/vhd-install.complete": "",
		// If it contains "uninitialized", systemd applies all presets at the first boot (machine-id(5)), which takes seconds; an
		// image has its units enabled already.
		"etc/machine-id": "",
		"etc/hostname":   "localhost\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o644); err != nil {
			return fmt.Errorf("furnish the image: %w", err)
		}
	}
	return nil
}
