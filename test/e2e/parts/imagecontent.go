package parts

import (
	"context"
	"encoding/json"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/image/spec"
	"github.com/slipway-dev/slipway/test/e2e/registry"
)

// imageInputs are what an image is made of.
type imageInputs struct {
	Image
	// The directories of parts.
	kubernetes, second, containerd, cni, coredns, payload, client, debs string
	// agent is the path of slipway-node, base that of the contract of the base phase, and trees are directories with further files.
	agent, base string
	trees       []string
	// containerdVersion and runcVersion are versions of Debian's packages.
	containerdVersion, runcVersion string
}

// imageInputs builds the parts of an image.
func (s *Store) imageInputs(ctx context.Context, image Image, binaries string) (*imageInputs, error) {
	folder := filepath.Join(s.Repo, "test", "e2e", "image")
	in := &imageInputs{
		Image: image, agent: filepath.Join(binaries, "slipway-node"), base: filepath.Join(folder, "base", bases[image.Containerd]),
		trees: []string{filepath.Join(folder, "every")},
	}
	type part struct {
		dir  *string
		make func(context.Context) (string, error)
	}
	kubernetes := func(version string) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) { return s.KubernetesBinaries(ctx, version) }
	}
	list := []part{{&in.kubernetes, kubernetes(image.Kubelet)}, {&in.containerd, s.Containerd}, {&in.cni, s.CNI}, {&in.debs, s.debs}}
	if image.SecondKubelet != "" {
		list = append(list, part{&in.second, kubernetes(image.SecondKubelet)})
	}
	if !image.Plain {
		in.trees = append(in.trees, filepath.Join(folder, "lab"))
		list = append(list, part{&in.coredns, s.CoreDNS}, part{&in.payload, s.Payload}, part{&in.client, s.BootstrapClient})
	}
	for _, part := range list {
		dir, err := part.make(ctx)
		if err != nil {
			return nil, err
		}
		*part.dir = dir
	}
	for name, version := range map[string]*string{containerdPackage: &in.containerdVersion, runcPackage: &in.runcVersion} {
		var err error
		if *version, err = in.packageVersion(ctx, name); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// packageVersion is the upstream version of a Debian package among the parts.
func (in *imageInputs) packageVersion(ctx context.Context, name string) (string, error) {
	version, err := output(ctx, "dpkg-deb", "--field", in.deb(name), "Version")
	text := strings.TrimSpace(string(version))
	if end := strings.IndexAny(text, "~+-"); end >= 0 {
		text = text[:end]
	}
	return text, err
}

// deb is the path of a Debian package among the parts.
func (in *imageInputs) deb(name string) string { return filepath.Join(in.debs, name+".deb") }

// document is components.yaml. The registry at an address has the container images, and dir the archives. The snapshot is the time of the
// files; the packages come from the mirror.
func (in *imageInputs) document(address, dir string) ([]byte, error) {
	trees, err := in.treeFiles()
	if err != nil {
		return nil, err
	}
	d := spec.Document{
		APIVersion: spec.APIVersion, Kind: spec.Kind, Architectures: []string{"amd64"},
		Base: &spec.Base{Suite: in.Suite, Snapshot: "20261101T000000Z"},
		Components: []spec.Component{
			component("kubelet", "kubelet", in.Kubelet, filepath.Join(in.kubernetes, "kubelet"), in.kubeletPath()...),
			component("runc", "runc", in.runcVersion, in.deb(runcPackage)),
			component("cni-plugins", "cni-plugins", CNI, filepath.Join(dir, archives[1])),
			component("slipway-node", "slipway-node", "1", in.agent),
			component("aks-node-controller", "slipway-node", "1", in.agent, spec.File{Path: "/opt/azure/containers/aks-node-controller"}),
			component("files", "file", "1", filepath.Join(dir, archives[2]), trees...),
		},
	}
	if in.Tree {
		d.Base = nil
	}
	if in.Containerd == ContainerdDebian {
		d.Components = append(d.Components, component("containerd", "containerd", in.containerdVersion, in.deb(containerdPackage)))
	} else {
		d.Components = append(d.Components, component("containerd", "containerd", Containerd, filepath.Join(dir, archives[0])))
	}
	if in.second != "" {
		d.Components = append(d.Components, component("kubelet-second", "kubelet", in.SecondKubelet, filepath.Join(in.second, "kubelet"), in.kubeletPath()...))
	}
	if !in.Plain {
		d.Base.Packages = []string{"apt", "cloud-init", "curl", "netbase"} // a node without an agent asks its cloud with curl
		d.Components = append(d.Components,
			component("coredns", "file", CoreDNS, filepath.Join(in.coredns, "coredns"), spec.File{Path: "/opt/azure/containers/localdns/binary/coredns"}),
			component(bootstrapClient, "file", "1", filepath.Join(in.client, bootstrapClient), spec.File{Path: "/opt/bin/" + bootstrapClient}),
		)
		for _, name := range slices.Sorted(maps.Keys(imageNames)) {
			image := component(name, "image", "1", address+"/"+payloadName+":1")
			image.Sources = append(image.Sources, imageNames[name])
			d.Components = append(d.Components, image)
		}
	}
	return json.MarshalIndent(d, "", "  ") // all JSON is YAML
}

// component is a component with a file, or with files of an archive.
func component(name, kind, version, source string, files ...spec.File) spec.Component {
	return spec.Component{Name: name, Kind: kind, Version: version, License: "NOASSERTION", Sources: []string{source}, Files: files}
}

// kubeletPath is where the image has its kubelets. Nil means the usual path.
func (in *imageInputs) kubeletPath() []spec.File {
	if in.Plain {
		return nil
	}
	return []spec.File{{Path: "/opt/bin/kubelet-{version}"}}
}

// imageNames are the references of the container image in an image, by the names of components. A reference is where the image would come
// from, if it were not in the lab's registry.
var imageNames = map[string]string{"payload": Pause, "pause-aks": AKSPause, "pause-eks": EKSPause}

// payloadName is the repository of the container image in the registry from which an image is made.
const payloadName = "payload"

// push puts the container images into the registry.
func (in *imageInputs) push(ctx context.Context, to http.Handler) error {
	if in.Plain {
		return nil
	}
	program, err := os.ReadFile(filepath.Join(in.payload, payloadName))
	if err != nil {
		return err
	}
	layer, err := registry.Layer(program, "image")
	if err != nil {
		return err
	}
	return registry.Push(ctx, to, payloadName, "1", layer)
}

// archives are the archives with the files of an image: those of containerd, of the network plug-ins, and of trees.
var archives = [...]string{"containerd.tar", "cni.tar", "files.tar"}

// archives makes them.
func (in *imageInputs) archives(ctx context.Context, dir string) error {
	trees := []string{"tar", "--owner=0", "--group=0", "-cf", archives[2]}
	for _, tree := range in.trees {
		trees = append(trees, "-C", tree, ".")
	}
	for _, argv := range [][]string{
		{"tar", "-C", in.containerd, "--transform=s,^\\./,bin/,", "-cf", archives[0], "."},
		{"tar", "-C", in.cni, "-cf", archives[1], "."},
		trees,
	} {
		if err := run(ctx, dir, nil, argv...); err != nil {
			return err
		}
	}
	return nil
}

// treeFiles are the files of trees, at their paths and with their modes.
func (in *imageInputs) treeFiles() (files []spec.File, err error) {
	for _, tree := range in.trees {
		err := fs.WalkDir(os.DirFS(tree), ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			mode := "0644"
			if info.Mode()&0o100 != 0 {
				mode = "0755"
			}
			files = append(files, spec.File{Member: name, Path: path.Join("/", name), Mode: mode})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}
