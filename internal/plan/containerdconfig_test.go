package plan

import (
	"strings"
	"testing"

	reader "github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// mergedConfig plans a node with settings of containerd's own.
func mergedConfig(t *testing.T, text, version string, edit ...func(*nodeconfig.NodeConfig)) (content string, secret bool, problems []nodeconfig.Problem) {
	t.Helper()
	c := contract(t, "native/minimal.yaml", append(edit, func(c *nodeconfig.NodeConfig) {
		c.Runtime.Containerd.Config = nodeconfig.NewSecret(text)
	})...)
	known := facts.Facts{Components: []components.Component{{Name: "containerd", Version: version}}}
	p, all := New(c, known)
	for _, problem := range all {
		if problem.Path == "$.runtime.containerd.config" {
			problems = append(problems, problem)
		}
	}
	f := fileAt(t, p, concern.ContainerdConfig)
	return string(f.Content), f.Secret && f.Mode == 0o600, problems
}

// The contract's settings are merged over containerd's configuration, which only root reads then.
func TestContainerdConfigMerged(t *testing.T) {
	content, secret, problems := mergedConfig(t, `
version = 3
oom_score = -500
[plugins.'io.containerd.cri.v1.images']
max_concurrent_downloads = 5
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes]
runsc.runtime_type = "io.containerd.runsc.v1"
runc.options.BinaryName = "/opt/runc"
`, "2.1")
	if len(problems) > 0 || !secret {
		t.Fatalf("secret: %v, problems %v", secret, problems)
	}
	var config map[string]any
	if _, err := reader.Decode(content, &config); err != nil {
		t.Fatal(err)
	}
	const images, runtime = "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime"
	for _, c := range []struct {
		want any
		path []string
	}{
		{int64(-500), []string{"oom_score"}},
		{int64(5), []string{"plugins", images, "max_concurrent_downloads"}},
		{nodeconfig.DefaultSandboxImage, []string{"plugins", images, "pinned_images", "sandbox"}},
		{"io.containerd.runsc.v1", []string{"plugins", runtime, "containerd", "runtimes", "runsc", "runtime_type"}},
		{"/opt/runc", []string{"plugins", runtime, "containerd", "runtimes", "runc", "options", "BinaryName"}},
		{true, []string{"plugins", runtime, "containerd", "runtimes", "runc", "options", "SystemdCgroup"}},
	} {
		if got := at(t, config, c.path...); got != c.want {
			t.Errorf("%s is %v, want %v", strings.Join(c.path, "."), got, c.want)
		}
	}
	if again, _, _ := mergedConfig(t, "oom_score = -500\n"+content[strings.Index(content, "[plugins"):], "2.1"); again != content {
		t.Errorf("merged over itself it is\n%s\nand was\n%s", again, content)
	}
}

// Settings of containerd 1's CRI plug-in move to where containerd 2 reads them. Settings that are there already stay. If a setting is in
// both tables, the value in containerd 2's table wins.
func TestContainerdConfigOfContainerd1(t *testing.T) {
	const text = `
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "registry.example/pause:1"
max_concurrent_downloads = 5
enable_unprivileged_ports = true
stream_server_port = "10010"
[plugins."io.containerd.grpc.v1.cri".containerd]
discard_unpacked_layers = false
default_runtime_name = "crun"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.crun]
runtime_type = "io.containerd.runc.v2"
options.BinaryName = "/usr/bin/crun"
[plugins."io.containerd.grpc.v1.cri".cni]
conf_dir = "/etc/cni/other"
[plugins."io.containerd.cri.v1.images"]
max_concurrent_downloads = 7
[metrics]
address = "127.0.0.1:1338"
`
	const one, images, runtime = "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime"
	content, _, problems := mergedConfig(t, text, "2.1")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var config map[string]any
	if _, err := reader.Decode(content, &config); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want any
		path []string
	}{
		{"registry.example/pause:1", []string{"plugins", images, "pinned_images", "sandbox"}},
		{int64(7), []string{"plugins", images, "max_concurrent_downloads"}},
		{false, []string{"plugins", images, "discard_unpacked_layers"}},
		{true, []string{"plugins", runtime, "enable_unprivileged_ports"}},
		{"crun", []string{"plugins", runtime, "containerd", "default_runtime_name"}},
		{"/usr/bin/crun", []string{"plugins", runtime, "containerd", "runtimes", "crun", "options", "BinaryName"}},
		{"/etc/cni/other", []string{"plugins", runtime, "cni", "conf_dir"}},
		{"127.0.0.1:1338", []string{"metrics", "address"}},
	} {
		if got := at(t, config, c.path...); got != c.want {
			t.Errorf("%s is %v, want %v", strings.Join(c.path, "."), got, c.want)
		}
	}
	if left := config["plugins"].(map[string]any)[one]; !cmp.Equal(left, map[string]any{"stream_server_port": "10010"}) {
		t.Errorf("containerd 2 has %v left of containerd 1's plug-in", left)
	}
	if content, _, _ := mergedConfig(t, text, "1.7"); !strings.Contains(content, "max_concurrent_downloads = 5") {
		t.Errorf("containerd 1 has %s", content)
	}
	mirrors := `[plugins."io.containerd.grpc.v1.cri".registry.mirrors."docker.io"]` + "\nendpoint = [\"https://mirror.example\"]"
	if _, _, problems := mergedConfig(t, mirrors, "2.2.4"); len(problems) != 1 || !strings.Contains(problems[0].Reason, "registry.mirrors") {
		t.Errorf("mirrors that containerd 2 does not read: %v", problems)
	}
}

// refused checks that a configuration is refused for a reason, which does not repeat a value of the text, or taken if the reason is empty.
func refused(t *testing.T, text, version, reason string, edit ...func(*nodeconfig.NodeConfig)) {
	t.Helper()
	_, _, problems := mergedConfig(t, text, version, edit...)
	if reason == "" {
		if len(problems) > 0 {
			t.Errorf("%q: %v", text, problems)
		}
		return
	}
	if len(problems) != 1 {
		t.Errorf("%q: %v", text, problems)
		return
	}
	if p := problems[0]; !p.Fatal || p.Kind != nodeconfig.Invalid || !strings.Contains(p.Reason, reason) || strings.Contains(p.Reason, "hunter2") {
		t.Errorf("%q: %s", text, p)
	}
}

// What would surely make no node is an error, which does not repeat a value of the text.
func TestContainerdConfigRefused(t *testing.T) {
	const one, images, runtime = `plugins."io.containerd.grpc.v1.cri"`, `plugins."io.containerd.cri.v1.images"`, `plugins."io.containerd.cri.v1.runtime"`
	mirrored := func(c *nodeconfig.NodeConfig) {
		c.Runtime.Registries = map[string]nodeconfig.Registry{"docker.io": {Mirrors: []nodeconfig.RegistryHost{{URL: "https://mirror.example"}}}}
	}
	cgroupfs := func(c *nodeconfig.NodeConfig) { c.Runtime.CgroupDriver = "cgroupfs" }
	for _, c := range []struct {
		text, version, reason string // no reason: it is taken
		edit                  func(*nodeconfig.NodeConfig)
	}{
		{"a = \"hunter2", "2", "at its line 1, column 12", nil},
		{"a = 1\n  hunter2 hunter2", "2", "at its line 2, column 11", nil},
		{"a = 2026-01-01", "2", "a date", nil},
		{"version = 1", "2", "use version = 3", nil},
		{"version = 5", "1.7", "use version = 2", nil},
		{"version = \"3\"", "2", "use version = 3", nil},
		{"version = 2", "1.7", "", nil},
		{"version = 2", "2", "", nil},
		{"version = 3", "1.7", "", nil},
		{"version = 4", "2.2", "", nil},
		{"plugins = \"hunter2\"", "2", "at plugins", nil},
		{"[oom_score]\nhunter2 = 1", "2", "at oom_score", nil},
		{"disabled_plugins = [\"cri\"]", "1.7", "disabled_plugins", nil},
		{"disabled_plugins = [\"io.containerd.cri.v1.runtime\"]", "2", "disabled_plugins", nil},
		{"disabled_plugins = [\"io.containerd.snapshotter.v1.zfs\"]", "2", "", nil},
		{"[grpc]\naddress = \"/run/hunter2\"", "2", "grpc.address", nil},
		{"[grpc]\naddress = \"/run/containerd/containerd.sock\"", "2", "", nil},
		{"[grpc]\naddress = \"/var/run/containerd/containerd.sock\"", "2", "", nil},
		{"[grpc]\naddress = \"unix:///run/containerd/containerd.sock\"", "2", "grpc.address", nil},
		{"[grpc]\naddress = 1", "2", "grpc.address", nil},
		{"[" + images + ".registry]\nconfig_path = \"/etc/containerd/certs.d/:/etc/docker/certs.d\"", "2", "", mirrored},
		{"[" + images + ".registry]\nconfig_path = \"/etc/docker/certs.d\"", "2", "registry.config_path", mirrored},
		{"[" + runtime + ".containerd.runtimes.runc.options]\nSystemdCgroup = false", "2", "is systemd", nil},
		{"[" + runtime + ".containerd.runtimes.runc.options]\nSystemdCgroup = \"yes\"", "2", "takes true or false", nil},
		{"[" + runtime + ".containerd.runtimes.runc.options]\nSystemdCgroup = true", "2", "", nil},
		{"[" + runtime + ".containerd.runtimes.runc.options]\nSystemdCgroup = true", "2", "is cgroupfs", cgroupfs},
		{"[" + one + ".containerd.runtimes.own]\nruntime_type = \"io.containerd.runc.v2\"\noptions.SystemdCgroup = false", "1.7", "is systemd", nil},
		{"[" + images + ".registry.mirrors.\"docker.io\"]\nendpoint = [\"https://hunter2\"]", "2", "registry.mirrors", nil},
		{"[" + images + ".registry]\nconfig_path = \"\"\n[" + images + ".registry.mirrors.\"docker.io\"]\nendpoint = [\"https://hunter2\"]", "2.2", "certs.d", nil},
		{"[" + one + ".registry]\nconfig_path = \"\"\n[" + one + ".registry.mirrors.\"docker.io\"]\nendpoint = [\"https://hunter2\"]", "2.4", "certs.d", nil},
		{"[" + one + ".registry.configs.\"a\".tls]\nca_file = \"/a\"", "1.7", "registry.configs", nil},
		{"[" + one + ".registry.configs.\"a\".auth]\nusername = \"a\"", "1.7", "", nil},
	} {
		if c.edit == nil {
			c.edit = func(*nodeconfig.NodeConfig) {}
		}
		refused(t, c.text, c.version, c.reason, c.edit)
	}
}

// A runtime or snapshotter without which containerd's CRI plug-in does not start, or no pod does, is an error.
func TestContainerdRuntimesRefused(t *testing.T) {
	const one, images, runtime = `plugins."io.containerd.grpc.v1.cri"`, `plugins."io.containerd.cri.v1.images"`, `plugins."io.containerd.cri.v1.runtime"`
	for _, c := range []struct{ text, version, reason string }{ // no reason: it is taken
		{"[" + runtime + ".containerd]\ndefault_runtime_name = \"hunter2\"", "2.2", "names no table of runtimes"},
		{"[" + one + ".containerd]\ndefault_runtime_name = \"hunter2\"", "2.2", "names no table of runtimes"},
		{"[" + one + ".containerd]\ndefault_runtime_name = \"hunter2\"", "1.7", "names no table of runtimes"},
		{"[" + one + ".containerd]\ndefault_runtime_name = \"x\"\ndefault_runtime.runtime_type = \"io.containerd.runc.v2\"", "1.7", ""},
		{"[" + runtime + ".containerd]\ndefault_runtime_name = \"\"", "2.2", "empty default_runtime_name"},
		{"[" + runtime + ".containerd]\ndefault_runtime_name = \"own\"\nruntimes.own.runtime_path = \"/own\"", "2.2", "runtime_type"},
		{"[" + runtime + ".containerd]\ndefault_runtime_name = \"own\"\nruntimes.own.runtime_type = \"io.containerd.runc.v1\"", "2.2", "no pod starts"},
		{"[" + runtime + ".containerd]\ndefault_runtime_name = \"own\"\nruntimes.own.runtime_type = \"io.containerd.runsc.v1\"", "2.2", ""},
		{"[" + runtime + ".containerd.runtimes.runc]\nprivileged_without_host_devices_all_devices_allowed = true", "2.2", "privileged_without_host_devices"},
		{"[" + one + "]\nsystemd_cgroup = true", "1.7", "systemd_cgroup"},
		{"[" + images + "]\nsnapshotter = \"hunter2\"", "2.2", "does not have: its CRI plug-in does not start"},
		{"[" + images + "]\nsnapshotter = \"native\"", "2.2", ""},
		{"[" + images + "]\nsnapshotter = \"devmapper\"", "2.2", "pool_name"},
		{"[" + images + "]\nsnapshotter = \"devmapper\"\n[plugins.\"io.containerd.snapshotter.v1.devmapper\"]\npool_name = \"pool\"", "2.2", ""},
		{"disabled_plugins = [\"io.containerd.service.v1.images-service\"]", "1.7", "disables io.containerd.service.v1.images-service"},
		{"disabled_plugins = [\"io.containerd.transfer.v1.local\"]", "2.1", "disables io.containerd.transfer.v1.local"},
		{"disabled_plugins = [\"io.containerd.transfer.v1.local\"]", "2.0", ""},
		{"disabled_plugins = [\"io.containerd.internal.v1.restart\"]", "2.2", ""},
		{"disabled_plugins = [\"io.containerd.snapshotter.v1.overlayfs\"]", "2.2", "disables the snapshotter"},
		{"disabled_plugins = [\"io.containerd.snapshotter.v1.overlayfs\"]\n[" + one + ".containerd]\nsnapshotter = \"native\"", "1.7", ""},
		{"[" + images + "]\nsnapshotter = \"erofs\"", "2.0", "containerd 2.0 does not have"},
		{"[" + one + ".containerd]\nsnapshotter = \"hunter2\"", "1.7", "containerd 1.7 does not have"},
		{"[" + images + "]\nsnapshotter = \"own\"\n[proxy_plugins.own]\ntype = \"snapshot\"\naddress = \"/run/own.sock\"", "2.2", ""},
		{"[plugins.\"io.containerd.server.v1.grpc\"]\naddress = \"/run/hunter2\"", "2.3", "grpc.address"},
		{"[plugins.\"io.containerd.server.v1.grpc\"]\naddress = \"/run/hunter2\"", "2.2", "grpc.address"},
		{"[" + runtime + ".containerd.runtimes.runc.options]\nsystemdcgroup = false", "2.2", "is systemd"},
		{"[" + images + "]\nmax_concurrent_downloads = \"hunter2\"", "2.2", "takes a whole number"},
	} {
		refused(t, c.text, c.version, c.reason)
	}
}

// What containerd does not read, or only some pods need, is a warning that repeats no name of the author's.
func TestContainerdConfigWarned(t *testing.T) {
	const one, images, runtime = `plugins."io.containerd.grpc.v1.cri"`, `plugins."io.containerd.cri.v1.images"`, `plugins."io.containerd.cri.v1.runtime"`
	for _, c := range []struct {
		text, version, reason string
		kind                  nodeconfig.ProblemKind
	}{
		{"[" + images + "]\nsnapshoter = \"native\"", "2.2", "did you mean snapshotter?", nodeconfig.Unknown},
		{"[" + one + "]\nmax_concurent_downloads = 5", "2.2", "did you mean max_concurrent_downloads?", nodeconfig.Unknown},
		{"[plugins.\"io.containerd.cri.v1.image\"]\nsnapshotter = \"native\"", "2.2", "did you mean io.containerd.cri.v1.images?", nodeconfig.Unknown},
		{"[" + images + "]\nuse_local_image_pull = true", "1.7", "it is a setting of containerd 2.1 and newer", nodeconfig.Unknown},
		{"[" + runtime + ".containerd.runtimes.runc.options]\nSystemdCgoup = true", "2.2", "did you mean SystemdCgroup?", nodeconfig.Unknown},
		{"[" + one + ".containerd.runtimes.runc.options]\nSystemdCgoup = true", "1.7", "did you mean SystemdCgroup?", nodeconfig.Unknown},
		{"[" + images + ".registry]\nconfig_path = \"\"\n[" + images + ".registry.mirrors.\"hunter2\"]\nendpoint = [\"https://x\"]", "2.1", "certs.d", nodeconfig.Deprecated},
		{"[" + images + ".registry.configs.\"hunter2\".auth]\nusername = \"hunter2\"", "2.2", "imagePullSecrets", nodeconfig.Deprecated},
		{"[" + images + ".registry.auths.\"https://hunter2\"]\nusername = \"hunter2\"", "2.2", "imagePullSecrets", nodeconfig.Deprecated},
		{"[" + runtime + ".containerd.runtimes.hunter2]\nruntime_type = \"io.containerd.runc.v2\"\nsnapshotter = \"hunter2\"", "2.2", "no pod of it starts", nodeconfig.NotInstalled},
		{"[" + runtime + ".containerd.runtimes.hunter2]\nruntime_type = \"io.containerd.runc.v1\"", "2.2", "no pod starts with it", nodeconfig.Invalid},
		{"imports = [\"/etc/containerd/conf.d/*.toml\"]\n[" + runtime + ".containerd]\ndefault_runtime_name = \"nvidia\"", "2.2", "unless a file of imports has it", nodeconfig.Invalid},
	} {
		_, _, problems := mergedConfig(t, c.text, c.version)
		if len(problems) != 1 || problems[0].Fatal || problems[0].Kind != c.kind || !strings.Contains(problems[0].Reason, c.reason) || strings.Contains(problems[0].Reason, "hunter2") {
			t.Errorf("%q: %v", c.text, problems)
		}
	}
}

// CDI is switched on if it is off by default, in AKS's containerd 1.x, except on a machine whose GPU is not used.
func TestCDI(t *testing.T) {
	for _, c := range []struct {
		example, version string
		instance         *facts.Instance
		want             bool
	}{
		{"aks/azure-cni.json", "1.7.34", nil, true},
		{"aks/azure-cni.json", "1", &facts.Instance{Platform: "azure"}, true},
		{"aks/azure-cni.json", "1.7.34", &facts.Instance{Tags: facts.Tags{SkipGPUDriver: true}}, false},
		{"aks/azure-cni.json", "2.2.4", nil, false},
		{"native/minimal.yaml", "1.7.34", nil, false},
	} {
		known := facts.Facts{Instance: c.instance, Components: []components.Component{{Name: "containerd", Version: c.version}}}
		p, _ := New(contract(t, c.example), known)
		content := string(fileAt(t, p, concern.ContainerdConfig).Content)
		if got := strings.Contains(content, "\nenable_cdi = true\n"); got != c.want {
			t.Errorf("%s, containerd %s: %v, want %v:\n%s", c.example, c.version, got, c.want, content)
		}
	}
}
