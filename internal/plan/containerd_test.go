package plan

import (
	"maps"
	"slices"
	"strings"
	"testing"

	reader "github.com/BurntSushi/toml"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// containerdTOML is containerd's configuration, read back.
func containerdTOML(t *testing.T, c *nodeconfig.NodeConfig, version string) map[string]any {
	t.Helper()
	known := facts.Facts{Components: []components.Component{{Name: "containerd", Version: version}}}
	content := string(fileAt(t, first(New(c, known)), "/etc/containerd/config.toml").Content)
	var config map[string]any
	meta, err := reader.Decode(content, &config)
	if err != nil {
		t.Fatalf("%v\n%s", err, content)
	}
	if len(meta.Keys()) == 0 {
		t.Fatalf("nothing in %s", content)
	}
	return config
}

// at is a value of nested tables.
func at(t *testing.T, config map[string]any, path ...string) any {
	t.Helper()
	var value any = config
	for _, name := range path {
		table, ok := value.(map[string]any)
		if !ok || table[name] == nil {
			t.Fatalf("there is no %q of %q in %v", name, path, config)
		}
		value = table[name]
	}
	return value
}

// hostileHeaders are names and values that TOML gives a meaning to.
var hostileHeaders = map[string]string{
	"X-Plain":    "azure/aks",
	`"quoted"`:   `"value"`,
	`back\slash`: `C:\new\table \u0041 \`,
	"dotted.key": "a.b",
	"[table]":    "[x]\ty = 1",
	"key=value":  "'''\"\"\"",
	"#comment":   "# not",
	"'single'":   "é 日本 🙂 \u2028 \u00a0",
	"{}":         "",
	"]":          "]]",
}

func TestContainerdConfig(t *testing.T) {
	for _, version := range []struct{ installed, document, images, runtime string }{
		{"1", "2", "io.containerd.grpc.v1.cri", "io.containerd.grpc.v1.cri"},
		{"1.7.27", "2", "io.containerd.grpc.v1.cri", "io.containerd.grpc.v1.cri"},
		{"2", "3", "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime"},
		{"2.2.4", "3", "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime"},
		{"", "3", "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime"},
		{"9.0.0", "3", "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime"},
	} {
		c := contract(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) {
			c.Runtime.SandboxImage = "registry.example/pause:3.10@sha256:abc"
			c.Runtime.Containerd.RegistryHeaders = make(map[string]nodeconfig.Secret)
			for name, value := range hostileHeaders {
				c.Runtime.Containerd.RegistryHeaders[name] = nodeconfig.NewSecret(value)
			}
			c.Runtime.Containerd.DataDir = "/mnt/it;#[is]=here"
			c.Runtime.Containerd.MetricsAddress = "[::1]:10257"
			c.Network.Plugin = "kubenet"
		})
		config := containerdTOML(t, c, version.installed)
		if got := at(t, config, "version"); got != map[string]int64{"2": 2, "3": 3}[version.document] {
			t.Errorf("containerd %q: document of version %v", version.installed, got)
		}
		if got := at(t, config, "root"); got != c.Runtime.Containerd.DataDir {
			t.Errorf("root is %q", got)
		}
		if got := at(t, config, "metrics", "address"); got != "[::1]:10257" {
			t.Errorf("metrics are at %q", got)
		}
		sandbox := []string{"plugins", version.images, "sandbox_image"}
		if version.document == "3" {
			sandbox = []string{"plugins", version.images, "pinned_images", "sandbox"}
		}
		if got := at(t, config, sandbox...); got != c.Runtime.SandboxImage {
			t.Errorf("sandbox is %q", got)
		}
		if got := at(t, config, "plugins", version.images, "registry", "config_path"); got != "/etc/containerd/certs.d" {
			t.Errorf("registries are at %q", got)
		}
		headers := at(t, config, "plugins", version.images, "registry", "headers").(map[string]any)
		for name, want := range hostileHeaders {
			if got, ok := headers[name].([]any); !ok || len(got) != 1 || got[0] != want {
				t.Errorf("header %q is %q, want %q", name, headers[name], want)
			}
		}
		if len(headers) != len(hostileHeaders) {
			t.Errorf("headers are %v", headers)
		}
		if got := at(t, config, "plugins", version.runtime, "cni", "conf_template"); got != concern.KubenetFile {
			t.Errorf("CNI's template is %q", got)
		}
		for _, family := range profile.All() {
			c.Components.Layout = family.Name
			runtimes := at(t, containerdTOML(t, c, version.installed), "plugins", version.runtime, "containerd", "runtimes").(map[string]any)
			if names := slices.Sorted(maps.Keys(runtimes)); !slices.Equal(names, family.Runtime.Names) {
				t.Errorf("%s: the runtimes are %v", family.Name, names)
			}
			for name, runtime := range runtimes {
				options := at(t, runtime.(map[string]any), "options").(map[string]any)
				if options["BinaryName"] != family.Paths.Runc || options["SystemdCgroup"] != true {
					t.Errorf("%s: %s has options %v", family.Name, name, options)
				}
			}
		}
	}
}

// The contract's cgroup driver is used. If the contract names none, containerd 2's own default is systemd.
func TestCgroupDriver(t *testing.T) {
	for _, c := range []struct {
		installed, driver string
		systemd           any
	}{
		{"1", "", nil}, {"1", "systemd", true}, {"1", "cgroupfs", nil},
		{"2", "", true}, {"2", "systemd", true}, {"2", "cgroupfs", nil},
	} {
		config := contract(t, "aks/minimal.json")
		config.Runtime.CgroupDriver = c.driver
		runtime := concern.CRISchemas[c.installed].Runtime
		plugin := strings.Trim(strings.TrimPrefix(runtime, "plugins."), `"`)
		options := at(t, containerdTOML(t, config, c.installed), "plugins", plugin, "containerd", "runtimes", "runc", "options").(map[string]any)
		if options["SystemdCgroup"] != c.systemd {
			t.Errorf("%+v: SystemdCgroup is %v", c, options["SystemdCgroup"])
		}
		drop := planned(first(New(config, facts.Facts{})), resource.ID("File:"+concern.KubeletDropIns+familyOf(config).Kubelet.CgroupDriver.File))
		if drop != (c.driver != "") {
			t.Errorf("%+v: the kubelet gets: %v", c, drop)
		}
	}
}

// The main version is that of the contract's package, or else of the installed containerd, or else the version that the contract
// expects, or else the current one.
func TestContainerdVersion(t *testing.T) {
	for _, c := range []struct{ installed, expected, url, want string }{
		{"1.7.1", "2.1.0", "", "1"}, {"", "1.6.0", "", "1"}, {"", "v1.6.0", "", "1"}, {"", "2.1", "", "2"}, {"", "", "", "2"},
		{"3.0", "1.7", "", "1"}, {"unknown", "", "", "2"}, {"2", "", "", "2"}, {"10", "", "", "2"},
		{"1.7.1", "2.1.0", "https://x.example/c", "2"}, {"2.0.4", "", "https://x.example/containerd_1.7.1_amd64.deb", "1"},
		{"1.7.1", "", "https://x.example/containerd-2.0.4-linux-amd64.tar.gz", "2"}, {"1.7.1", "", "https://x.example/c", "2"},
	} {
		config := &nodeconfig.NodeConfig{Components: nodeconfig.Components{Artifacts: map[string]nodeconfig.Artifact{
			"containerd": {Version: c.expected, URL: c.url},
		}}}
		known := facts.Facts{Components: []components.Component{{Name: "containerd", Version: c.installed}}}
		if got := concern.NewInput(config, known).Schema.Major; got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

func TestLimits(t *testing.T) {
	c := contract(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) {
		c.Runtime.Containerd.Limits = map[string]string{"NOFILE": "1024:infinity", "MEMLOCK": "64M", "NPROC": "infinity"}
	})
	drop := fileAt(t, first(New(c, facts.Facts{})), concern.ContainerdDropIns+familyOf(c).Runtime.Limits.File)
	want := [][2]string{{"LimitMEMLOCK", "64M"}, {"LimitNOFILE", "1024:infinity"}, {"LimitNPROC", "infinity"}}
	if got := settings(string(drop.Content)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
