package plan

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	reader "github.com/BurntSushi/toml"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// programs are the programs of an image, by their names.
func programs(names ...string) (all []components.Component) {
	for _, name := range names {
		all = append(all, components.Component{Name: name, Path: "/usr/bin/" + name})
	}
	return all
}

// onImage are the facts of a machine that was looked at, with a containerd and with programs.
func onImage(containerd string, names ...string) facts.Facts {
	return facts.Facts{OS: facts.OS{ID: "ubuntu"}, Components: append(programs(names...), components.Component{Name: "containerd", Version: containerd})}
}

// tree is the table of a configuration where the keys lead, as another reader reads it.
func tree(t *testing.T, content []byte, keys ...string) any {
	t.Helper()
	var all map[string]any
	if err := reader.Unmarshal(content, &all); err != nil {
		t.Fatalf("%v\n%s", err, content)
	}
	var at any = all
	for _, key := range keys {
		below, _ := at.(map[string]any)
		at = below[key]
	}
	return at
}

// Each runtime and snapshotter, in the plug-ins that each containerd reads. What no image has is not there.
func TestRuntimes(t *testing.T) {
	kata := func(c *nodeconfig.NodeConfig) { c.Runtime.Sandboxes = []string{"kata"} }
	lazy := func(c *nodeconfig.NodeConfig) { c.Runtime.LazyPull = "overlaybd" }
	devices := func(c *nodeconfig.NodeConfig) { c.System.GPU = &nodeconfig.GPU{Vendor: concern.NVIDIA} }
	both := func(c *nodeconfig.NodeConfig) { kata(c); lazy(c) }
	all := []string{"containerd-shim-kata-v2", "containerd-shim-kata-cc-v2", "kata-runtime", "mkfs.erofs", "nvidia-smi", "nvidia-modprobe", "nvidia-container-runtime", "acr-mirror-setup"}
	for _, c := range []struct {
		name, example string
		change        func(*nodeconfig.NodeConfig)
		programs      []string
		first, second []string // the runtimes of containerd 1 and 2; the first is the default
		proxies       []string
		snapshotter   any
	}{
		{"NVIDIA in AKS's layout", "aks/minimal.json", devices, all, []string{"nvidia-container-runtime", "untrusted"}, []string{"nvidia-container-runtime", "untrusted"}, nil, nil},
		{"NVIDIA elsewhere", "native/minimal.yaml", devices, all, []string{"nvidia"}, []string{"nvidia"}, nil, nil},
		{"Kata", "aks/minimal.json", kata, all, []string{"runc", "kata", "kata-cc", "katacli", "untrusted"}, []string{"runc", "kata", "kata-cc", "kata-preview", "untrusted"}, []string{"tardev"}, nil},
		{"Kata of one program", "native/minimal.yaml", kata, all[:1], []string{"runc", "kata"}, []string{"runc", "kata"}, nil, nil},
		{"streaming", "aks/minimal.json", lazy, all, []string{"runc", "untrusted"}, []string{"runc", "untrusted"}, []string{"overlaybd"}, "overlaybd"},
		{"Kata and streaming", "aks/minimal.json", both, all, []string{"runc", "kata", "kata-cc", "katacli", "untrusted"}, []string{"runc", "kata", "kata-cc", "kata-preview", "untrusted"}, []string{"overlaybd", "tardev"}, "overlaybd"},
	} {
		for version, want := range map[string][]string{"1.7.35": c.first, "2.2.9": c.second} {
			p, _ := New(contract(t, c.example, c.change), onImage(version, c.programs...))
			content := fileAt(t, p, concern.ContainerdConfig).Content
			runtime, images := []string{"plugins", concern.CRI1}, []string{"plugins", concern.CRI1, "containerd"}
			if version[0] == '2' {
				runtime, images = []string{"plugins", concern.CRI2Runtime}, []string{"plugins", concern.CRI2Images}
			}
			at := append(runtime, "containerd")
			if got := tree(t, content, append(at, "default_runtime_name")...); got != want[0] {
				t.Errorf("%s, %s: the default is %v", c.name, version, got)
			}
			found, _ := tree(t, content, append(at, "runtimes")...).(map[string]any)
			names := slices.Sorted(keys(found))
			if !slices.Equal(names, slices.Sorted(slices.Values(want))) {
				t.Errorf("%s, %s: the runtimes are %q", c.name, version, names)
			}
			proxies, _ := tree(t, content, "proxy_plugins").(map[string]any)
			if got := slices.Sorted(keys(proxies)); !slices.Equal(got, c.proxies) {
				t.Errorf("%s, %s: the snapshotters of their own are %q", c.name, version, got)
			}
			if got := tree(t, content, append(images, "snapshotter")...); !reflect.DeepEqual(got, c.snapshotter) {
				t.Errorf("%s, %s: the snapshotter is %v", c.name, version, got)
			}
			for name, r := range found {
				own := r.(map[string]any)["snapshotter"]
				platform := tree(t, content, append(images, "runtime_platforms", name, "snapshotter")...)
				if want := map[bool]any{true: own}[version[0] == '2']; platform != want {
					t.Errorf("%s, %s: images of %s are for %v, and it has %v", c.name, version, name, platform, own)
				}
			}
			if strings.Contains(string(content), concern.CRI1) == (version[0] == '2') {
				t.Errorf("%s, %s: is in the other's plug-ins\n%s", c.name, version, content)
			}
		}
	}
}

// A runtime whose snapshotter the machine's containerd does not have is left out: the one for erofs came with containerd 2.1.
func TestRuntimeWithoutItsSnapshotter(t *testing.T) {
	kata := func(c *nodeconfig.NodeConfig) { c.Runtime.Sandboxes = []string{"kata"} }
	for version, want := range map[string]bool{"2.0.14": false, "2.1.9": true} {
		p, _ := New(contract(t, "aks/minimal.json", kata), onImage(version, "containerd-shim-kata-v2", "mkfs.erofs"))
		content := string(fileAt(t, p, concern.ContainerdConfig).Content)
		if got := strings.Contains(content, "erofs"); got != want || !strings.Contains(content, "runtimes.kata]") {
			t.Errorf("%s: %v\n%s", version, got, content)
		}
	}
}

func keys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// Isolated pods, streaming and GPUs on an image that lacks what they take: the error names it.
func TestImageLacks(t *testing.T) {
	for want, change := range map[string]func(*nodeconfig.NodeConfig){
		"$.runtime.sandboxes: wants Kata, and the image has no containerd-shim-kata-v2": func(c *nodeconfig.NodeConfig) { c.Runtime.Sandboxes = []string{"kata"} },
		"$.runtime.lazyPull: needs overlaybd-tcmu.service":                              func(c *nodeconfig.NodeConfig) { c.Runtime.LazyPull = "overlaybd" },
		"$.system.gpu.vendor: needs nvidia-smi":                                         func(c *nodeconfig.NodeConfig) { c.System.GPU = &nodeconfig.GPU{Vendor: concern.NVIDIA} },
		"$.system.gpu.installDriver: needs nvidia-smi": func(c *nodeconfig.NodeConfig) {
			c.System.GPU = &nodeconfig.GPU{Vendor: concern.NVIDIA, InstallDriver: true}
		},
		"$.system.gpu.managed: needs nvidia-dcgm.service": func(c *nodeconfig.NodeConfig) { c.System.GPU = &nodeconfig.GPU{Vendor: concern.NVIDIA, Managed: true} },
		"$.system.gpu.vendor: needs nvidia-fabricmanager.service": func(c *nodeconfig.NodeConfig) {
			c.System.GPU, c.Cloud.InstanceType = &nodeconfig.GPU{Vendor: concern.NVIDIA}, "Standard_ND96asr_v4"
		},
	} {
		known := onImage("2.2.9")
		known.Platform = facts.Azure
		_, problems := New(contract(t, "aks/minimal.json", change), known)
		if !slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool {
			return p.Kind == nodeconfig.NotInstalled && p.Fatal && strings.HasPrefix(p.Path+": "+p.Reason, want)
		}) {
			t.Errorf("%s is not said: %v", want, problems)
		}
	}
}
