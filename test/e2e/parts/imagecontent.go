package parts

import (
	"context"
	"encoding/json"
	"io/fs"
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
	kubernetes, containerd, cni, coredns, payload, client, debs string
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
	kubernetes := func(ctx context.Context) (string, error) { return s.KubernetesBinaries(ctx, image.Kubelet) }
	list := []struct {
		dir  *string
		make func(context.Context) (string, error)
	}{{&in.kubernetes, kubernetes}, {&in.containerd, s.Containerd}, {&in.cni, s.CNI}, {&in.debs, s.debs}}
	if !image.Plain {
		in.trees = append(in.trees, filepath.Join(folder, "lab"))
		list = append(list, []struct {
			dir  *string
			make func(context.Context) (string, error)
		}{{&in.coredns, s.CoreDNS}, {&in.payload, s.Payload}, {&in.client, s.BootstrapClient}}...)
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

// unchanged is a licence of a file that leaves the machine of the test with no image.
const unchanged = "NOASSERTION"

// document is components.yaml. The registry at an address has the container images, and dir the archives. The snapshot is the time of the
// files; the packages come from the mirror.
func (in *imageInputs) document(address, dir string) ([]byte, error) {
	document := spec.Document{
		APIVersion: spec.APIVersion, Kind: spec.Kind, Architectures: []string{"amd64"},
		Base: &spec.Base{Suite: in.Suite, Snapshot: "20261101T000000Z"},
	}
	add := func(c spec.Component, source string) {
		c.Sources = append(c.Sources, source)
		document.Components = append(document.Components, c)
	}
	file := func(name, version, source, at string) {
		add(spec.Component{Name: name, Kind: "file", Version: version, License: unchanged, Files: []spec.File{{Path: at}}}, source)
	}
	kubelet := spec.Component{Name: "kubelet", Version: in.Kubelet}
	if !in.Plain {
		kubelet.Files = []spec.File{{Path: "/opt/bin/kubelet-{version}"}}
	}
	add(kubelet, filepath.Join(in.kubernetes, "kubelet"))
	containerd, version := filepath.Join(dir, archives[0]), Containerd
	if in.Containerd == ContainerdDebian {
		containerd, version = in.deb(containerdPackage), in.containerdVersion
	}
	add(spec.Component{Name: "containerd", Version: version}, containerd)
	add(spec.Component{Name: "runc", Version: in.runcVersion}, in.deb(runcPackage))
	add(spec.Component{Name: "cni-plugins", Version: CNI}, filepath.Join(dir, archives[1]))
	add(spec.Component{Name: "slipway-node", Version: "1"}, in.agent)
	add(spec.Component{Name: "aks-node-controller", Kind: "slipway-node", Version: "1", Files: []spec.File{{Path: "/opt/azure/containers/aks-node-controller"}}}, in.agent)
	trees, err := in.treeFiles()
	if err != nil {
		return nil, err
	}
	add(spec.Component{Name: "files", Kind: "file", Version: "1", License: unchanged, Files: trees}, filepath.Join(dir, archives[2]))
	if !in.Plain {
		document.Base.Packages = []string{
			"cloud-init", "curl", // a node without an agent sends requests to its cloud with it
			"netbase",
		}
		file("coredns", CoreDNS, filepath.Join(in.coredns, "coredns"), "/opt/azure/containers/localdns/binary/coredns")
		file(bootstrapClient, "1", filepath.Join(in.client, bootstrapClient), "/opt/bin/"+bootstrapClient)
		for name, reference := range imageNames {
			add(spec.Component{Name: name, Kind: "image", Version: "1", License: unchanged, Sources: []string{address + "/" + payloadName + ":1"}}, reference)
		}
		slices.SortFunc(document.Components, func(a, b spec.Component) int { return strings.Compare(a.Name, b.Name) })
	}
	return json.MarshalIndent(document, "", "  ") // all JSON is YAML
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
