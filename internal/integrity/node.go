package integrity

import (
	"cmp"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/toml"
)

// Node is what has to be known of a node to find what is not part of it. It is the JSON form, too.
type Node struct {
	// Units are those that the node starts or has a file of, sorted. Started are those that it starts.
	Units   []string `json:"units,omitempty"`
	Started []string `json:"started,omitempty"`
	// Paths are those of the node's own files, directories and links, sorted.
	Paths []string `json:"-"`
	// Places are directories and files that its programs read, beside those of every machine.
	Places []Place `json:"places,omitempty"`
	// Server is the URL of the API server, if the kubelet writes its kubeconfig itself.
	Server string `json:"server,omitempty"`
	// Parameters are those of the kernel that files of the node set, by name. Modules are those that it loads, sorted.
	Parameters map[string]Parameter `json:"parameters,omitempty"`
	Modules    []string             `json:"modules,omitempty"`
	// Programs are those of the image with their digests, if they were known before the machine existed. Digests in the machine's own
	// manifest do not count.
	Programs []components.Component `json:"programs,omitempty"`
	// Stores are the directories of the components that the agent brings, sorted.
	Stores []string `json:"stores,omitempty"`
	// Accepted are the paths at which other programs may add files, sorted.
	Accepted []string `json:"accepted,omitempty"`
}

// Place is a directory or file that programs of a node read.
type Place struct {
	Kind Kind   `json:"kind"`
	Path string `json:"path"`
	Unit string `json:"unit"`
}

// Parameter is a kernel parameter that a file sets.
type Parameter struct {
	Value string `json:"value"`
	// File is the last name of the file: systemd applies all files in the order of these names (sysctl.d(5)).
	File string `json:"file"`
}

// Of describes the node that a plan makes.
func Of(p resource.Plan) Node {
	n := Node{Parameters: make(map[string]Parameter), Accepted: p.Node.Additions}
	var files []*resource.File
	for _, res := range p.Resources {
		switch spec := res.Spec.(type) {
		case *resource.Unit:
			n.Units, n.Started = append(n.Units, spec.Unit), append(n.Started, spec.Unit)
		case *resource.File:
			files = append(files, spec)
			n.Paths = append(n.Paths, spec.Path)
			if path.Dir(spec.Path) == resource.UnitDir {
				n.Units = append(n.Units, path.Base(spec.Path))
			}
		case *resource.Module:
			n.Modules = append(n.Modules, module(spec.Module))
		case *resource.Download:
			n.Stores = append(n.Stores, spec.Store())
		case *resource.Directory, *resource.Symlink, *resource.Copy:
			n.Paths = append(n.Paths, spec.Name())
		}
	}
	for _, list := range []*[]string{&n.Units, &n.Started, &n.Paths, &n.Modules, &n.Stores} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	for _, file := range files {
		n.read(file)
	}
	if slices.Contains(n.Units, concern.KubeletUnit) {
		n.ofKubelet(&p.Node)
		for _, res := range p.Health {
			if check, ok := res.Spec.(*resource.Check); ok && check.LeaseRenewed != nil {
				n.Server = check.LeaseRenewed.Server
			}
		}
	}
	if slices.Contains(n.Units, concern.ContainerdUnit) {
		n.ofRuntime(&p.Node)
	}
	sort.SliceStable(n.Places, func(i, j int) bool {
		a, b := &n.Places[i], &n.Places[j]
		return a.Path < b.Path || a.Path == b.Path && a.Unit < b.Unit
	})
	n.Places = slices.Compact(n.Places)
	return n
}

// read finds out what a file of the node has others read.
func (n *Node) read(file *resource.File) {
	switch dir := path.Dir(file.Path); {
	case file.Path == concern.ContainerdConfig:
		n.imports(string(file.Content))
	case dir == resource.UnitDir || path.Dir(dir) == resource.UnitDir && strings.HasSuffix(dir, ".d"):
		unit := strings.TrimSuffix(path.Base(dir), ".d")
		if dir == resource.UnitDir {
			unit = path.Base(file.Path)
		}
		for _, line := range settings(string(file.Content)) {
			name := strings.TrimPrefix(line.value, "-")
			// What is below /run was written at this boot, by a program of the node.
			if line.key == "EnvironmentFile" && path.IsAbs(name) && !strings.HasPrefix(name, "/run/") && !strings.ContainsAny(name, "*?[%") {
				n.Places = append(n.Places, Place{KindEnvironment, path.Clean(name), unit})
			}
		}
	case dir == resource.SysctlDirs[0]:
		for _, line := range settings(string(file.Content)) {
			key, base := resource.ParameterName(strings.TrimPrefix(line.key, "-")), path.Base(file.Path)
			if base >= n.Parameters[key].File {
				n.Parameters[key] = Parameter{fields(line.value), base}
			}
		}
	}
}

// fields is a value with single blanks, as the kernel returns it.
func fields(value string) string { return strings.Join(strings.Fields(value), " ") }

// ofKubelet adds what the kubelet reads and runs.
func (n *Node) ofKubelet(values *resource.Node) {
	add := func(kind Kind, dir string) {
		if path.IsAbs(dir) {
			n.Places = append(n.Places, Place{kind, path.Clean(dir), concern.KubeletUnit})
		}
	}
	add(KindStaticPod, cmp.Or(values.Arguments["pod-manifest-path"].Value, values.Kubelet["staticPodPath"]))
	add(KindKubelet, values.Arguments["config-dir"].Value)
	add(KindKubeconfig, values.Arguments["kubeconfig"].Value)
	// Default: k8s.io/kubernetes v1.36.3 pkg/kubelet/apis/config/v1beta1/defaults.go, DefaultVolumePluginDir.
	add(KindVolume, cmp.Or(values.Arguments["volume-plugin-dir"].Value, values.Kubelet["volumePluginDir"], "/usr/libexec/kubernetes/kubelet-plugins/volume/exec"))
}

// ofRuntime adds what containerd reads and runs.
func (n *Node) ofRuntime(values *resource.Node) {
	dirs := values.Runtime["registry.config_path"]
	if !path.IsAbs(dirs) { // not set, or a fingerprint
		dirs = concern.RegistriesDir
	}
	for dir := range strings.SplitSeq(dirs, ":") {
		if path.IsAbs(dir) {
			n.Places = append(n.Places, Place{KindRegistry, path.Clean(dir), concern.ContainerdUnit})
		}
	}
	for kind, dir := range map[Kind]string{
		KindNetwork: concern.CNIConfDir,
		// containerd v2.2.1 docs/NRI.md, "Plugin Startup"; plugins/services/opt (path, "/opt/containerd"): its bin goes before PATH.
		KindNRI: "/opt/nri/plugins", KindRuntimeBin: "/opt/containerd/bin",
	} {
		n.Places = append(n.Places, Place{kind, dir, concern.ContainerdUnit})
	}
}

// imports adds the directories that containerd merges files of over its configuration (containerd-config.toml(5), imports).
func (n *Node) imports(config string) {
	table, err := toml.Parse(config)
	if err != nil {
		return
	}
	list, _ := table.Get("imports").([]any)
	for _, item := range list {
		if pattern, _ := item.(string); path.IsAbs(pattern) && !strings.ContainsAny(path.Dir(pattern), "*?[") {
			n.Places = append(n.Places, Place{KindRuntime, path.Dir(pattern), concern.ContainerdUnit})
		}
	}
}
