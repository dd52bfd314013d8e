package difference

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// runtimePlan is a node with a version of containerd, and a change of its contract.
func runtimePlan(t *testing.T, version string, change func(*nodeconfig.NodeConfig)) resource.Plan {
	t.Helper()
	return planOn(t, func(f *facts.Facts) {
		f.Components = append([]components.Component{{Name: "containerd", Version: version, Path: "/usr/bin/containerd"}}, slices.DeleteFunc(f.Components, func(c components.Component) bool { return c.Name == "containerd" })...)
	}, "native/minimal.yaml", change)
}

// Each row of the table for a setting of the contract's own, and for one in containerd's language, in both versions of that.
func TestRuntimeSettings(t *testing.T) {
	text := func(config string) func(*nodeconfig.NodeConfig) {
		return func(c *nodeconfig.NodeConfig) { c.Runtime.Containerd.Config = nodeconfig.NewSecret(config) }
	}
	type change struct {
		own      func(*nodeconfig.NodeConfig)
		one, two string
		// same is a text with the settings that apply without it.
		same string
	}
	changes := map[string]change{
		"root":          {func(c *nodeconfig.NodeConfig) { c.Runtime.Containerd.DataDir = "/mnt/a" }, `root = "/mnt/b"`, `root = "/mnt/b"`, `root = "/var/lib/containerd"`},
		"state":         {nil, `state = "/run/b"`, `state = "/run/b"`, `state = "/run/containerd"`},
		"cgroup driver": {func(c *nodeconfig.NodeConfig) { c.Runtime.CgroupDriver = "cgroupfs" }, "", "", ""},
		"snapshotter": {
			func(c *nodeconfig.NodeConfig) { c.Runtime.LazyPull = "overlaybd" },
			"[plugins.'io.containerd.grpc.v1.cri'.containerd]\nsnapshotter = 'native'", "[plugins.'io.containerd.cri.v1.images']\nsnapshotter = 'native'", "",
		},
		"cni.conf_template": {
			func(c *nodeconfig.NodeConfig) { c.Network.Plugin = "kubenet" },
			"[plugins.'io.containerd.grpc.v1.cri'.cni]\nconf_template = '/x'", "[plugins.'io.containerd.cri.v1.runtime'.cni]\nconf_template = '/x'", "",
		},
		"sandbox image": {
			func(c *nodeconfig.NodeConfig) { c.Runtime.SandboxImage = "registry.example/pause:9" },
			"[plugins.'io.containerd.grpc.v1.cri']\nsandbox_image = 'x'", "[plugins.'io.containerd.cri.v1.images'.pinned_images]\nsandbox = 'x'", "",
		},
		"registry.config_path": {
			nil, "[plugins.'io.containerd.grpc.v1.cri'.registry]\nconfig_path = '/x'", "[plugins.'io.containerd.cri.v1.images'.registry]\nconfig_path = '/x'", "",
		},
	}
	const first, second = "1.7.28", "2.2.4"
	same := func(*nodeconfig.NodeConfig) {}
	plain := map[string]resource.Plan{first: runtimePlan(t, first, same), second: runtimePlan(t, second, same)}
	for _, row := range runtimeTable {
		c, found := changes[row.Setting]
		plans := map[string][2]resource.Plan{}
		for version, config := range map[string]string{first: c.one, second: c.two} {
			if c.own != nil {
				plans[version+", the contract's setting"] = [2]resource.Plan{plain[version], runtimePlan(t, version, c.own)}
			}
			if config != "" {
				plans[version+", containerd's"] = [2]resource.Plan{plain[version], runtimePlan(t, version, text(config))}
			}
			if c.same != "" {
				if d := of(t, plain[version], runtimePlan(t, version, text(c.same))); d.Class != Restart {
					t.Errorf("%s, %s: what containerd does anyway, written down: %s", row.Setting, version, d.Class)
				}
			}
		}
		if row.Setting == "version" {
			plans["another version"], found = [2]resource.Plan{plain[first], plain[second]}, true
		}
		if !found {
			t.Errorf("%s has no case", row.Setting)
		}
		for name, pair := range plans {
			for _, d := range []*Difference{of(t, pair[0], pair[1]), of(t, reread(t, pair[1]), reread(t, pair[0]))} {
				if !slices.ContainsFunc(judgementsOf(d), func(j Judgement) bool {
					return slices.Contains(j.Reasons, Reason{row.Class, row.Setting, row.Reason, row.Source})
				}) {
					t.Errorf("%s, %s: class %s: %+v", row.Setting, name, d.Class, d.Beyond(None))
				}
			}
		}
	}
}

// What a secret text sets is judged, and shown nowhere.
func TestRuntimeValuesHideSecrets(t *testing.T) {
	with := func(dir string) resource.Plan {
		return runtimePlan(t, "2.2.4", func(c *nodeconfig.NodeConfig) {
			c.Runtime.Containerd.Config = nodeconfig.NewSecret("root = '/" + dir + "'")
		})
	}
	one, other := with("canary1"), with("canary2")
	for _, d := range []*Difference{of(t, one, other), of(t, reread(t, one), reread(t, other)), of(t, reread(t, one), other)} {
		if d.Class != Drain {
			t.Errorf("class %s", d.Class)
		}
		data, err := json.Marshal([]any{d, one, other})
		if err != nil {
			t.Fatal(err)
		}
		if shown := string(data) + d.Text(cli.Style{}) + fmt.Sprint(d.Beyond(None), one.Node); strings.Contains(shown, "canary") {
			t.Errorf("a secret is in %s", shown)
		}
	}
}
