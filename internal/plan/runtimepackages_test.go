package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// downloadIn is a download of a plan, or nil.
func downloadIn(p resource.Plan, component string) *resource.Resource {
	for i, r := range p.Resources {
		if d, ok := r.Spec.(*resource.Download); ok && d.Component == component {
			return &p.Resources[i]
		}
	}
	return nil
}

// If the image has the package's version, the image's program is used, unless the contract decides otherwise. A program at another
// path does not count as the image's. The unit starts the program that the package brings.
func TestRuntimePackages(t *testing.T) {
	const deb = "https://x.example/moby-containerd_2.0.4-ubuntu24.04u1_amd64.deb"
	own := []components.Component{{Name: "containerd", Version: "2.0.4-1", Path: "/usr/bin/containerd"}, {Name: "runc", Version: "1.2.3", Path: "/usr/bin/runc"}}
	for _, c := range []struct {
		name             string
		containerd, runc nodeconfig.Artifact
		has              []components.Component
		brings           []string
	}{
		{"nothing is named", nodeconfig.Artifact{Version: "2.0.4"}, nodeconfig.Artifact{}, own, nil},
		{"both", nodeconfig.Artifact{URL: deb}, nodeconfig.Artifact{URL: "https://x.example/runc.amd64"}, nil, []string{"containerd", "runc"}},
		{"the image has it", nodeconfig.Artifact{URL: deb}, nodeconfig.Artifact{}, own, nil},
		{"the image has it, and it is forced", nodeconfig.Artifact{URL: deb, Force: true}, nodeconfig.Artifact{}, own, []string{"containerd"}},
		{"the image has another", nodeconfig.Artifact{URL: deb, Version: "2.0.5"}, nodeconfig.Artifact{}, own, []string{"containerd"}},
		{"the image has it elsewhere", nodeconfig.Artifact{URL: deb}, nodeconfig.Artifact{},
			[]components.Component{{Name: "containerd", Version: "2.0.4", Path: "/opt/bin/containerd"}}, []string{"containerd"}},
		{"a file of the image", nodeconfig.Artifact{File: "/opt/containerd/containerd-2.0.4-linux-amd64.tar.gz"}, nodeconfig.Artifact{}, nil, []string{"containerd"}},
		{"runc of no version", nodeconfig.Artifact{}, nodeconfig.Artifact{URL: "https://x.example/runc.amd64"}, own, []string{"runc"}},
		{"runc of the image's version", nodeconfig.Artifact{}, nodeconfig.Artifact{URL: "https://x.example/runc.amd64", Version: "v1.2.3"}, own, nil},
	} {
		n := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
			n.Components.Artifacts = map[string]nodeconfig.Artifact{"containerd": c.containerd, "runc": c.runc}
		})
		p, problems := New(n, facts.Facts{Components: append(c.has, components.Component{Name: "kubelet", Version: "1.36.3", Path: "/usr/bin/kubelet"})})
		if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
			t.Errorf("%s: %v", c.name, fatal)
		}
		var brings, searched []string
		starts, runs := "/usr/bin/containerd", `BinaryName = "/usr/bin/runc"`
		for _, name := range []string{"containerd", "runc"} {
			if r := downloadIn(p, name); r != nil {
				brings, searched = append(brings, name), append(searched, r.Spec.(*resource.Download).Store())
				if program := r.Spec.(*resource.Download).Path(name); name == "runc" {
					runs = `BinaryName = "` + program + `"`
				} else {
					starts = program
				}
			}
		}
		unit := string(fileAt(t, p, "/etc/systemd/system/containerd.service").Content)
		path := ""
		if len(searched) > 0 {
			path = "\nEnvironment=PATH=" + strings.Join(searched, ":") + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
		}
		if !slices.Equal(brings, c.brings) || !strings.Contains(unit, "\nExecStart="+starts+"\n") ||
			!strings.Contains(unit, path) || path == "" && strings.Contains(unit, "PATH") {
			t.Errorf("%s: brings %q, with the unit\n%s", c.name, brings, unit)
		}
		if config := string(fileAt(t, p, concern.ContainerdConfig).Content); !strings.Contains(config, runs) {
			t.Errorf("%s: want %s in\n%s", c.name, runs, config)
		}
	}
}

// It has to be known how what is brought is configured.
func TestContainerdPackageVersion(t *testing.T) {
	const named, silent = "https://x.example/containerd-2.0.4-linux-amd64.tar.gz", "https://x.example/latest.tar.gz"
	for _, c := range []struct {
		artifact nodeconfig.Artifact
		at, says string // empty for no problem
	}{
		{artifact: nodeconfig.Artifact{URL: named}},
		{artifact: nodeconfig.Artifact{URL: silent, Version: "v2.0.4"}},
		{artifact: nodeconfig.Artifact{URL: silent, Version: "1"}},
		{artifact: nodeconfig.Artifact{URL: named, Version: "2.1.0"}},
		{artifact: nodeconfig.Artifact{URL: "https://x.example/containerd_20240101_amd64.deb", Version: "2.0.4"}},
		{nodeconfig.Artifact{URL: silent}, setting.ContainerdURL, "name the version"},
		{nodeconfig.Artifact{URL: silent, File: "/opt/containerd.deb"}, setting.ContainerdURL, "name the version"},
		{nodeconfig.Artifact{URL: "https://x.example/containerd_20240101_amd64.deb"}, setting.ContainerdURL, "is of containerd 20240101"},
		{nodeconfig.Artifact{URL: "https://x.example/containerd-3.0.0-linux-amd64.tar.gz"}, setting.ContainerdURL, "is of containerd 3.0.0"},
		{nodeconfig.Artifact{URL: named, Version: "0.2.9"}, setting.ContainerdVersion, "is of containerd 0.2.9"},
		{nodeconfig.Artifact{URL: named, Version: "latest"}, setting.ContainerdVersion, "name the version, such as 2.0.4"},
		{nodeconfig.Artifact{URL: named, Version: "1.7.28"}, setting.ContainerdVersion, "a name of the package says 2.0.4"},
		{nodeconfig.Artifact{URL: named, File: "/opt/containerd_1.7.28_amd64.deb"}, setting.ContainerdURL, "a name of the package says 1.7.28"},
	} {
		n := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
			n.Components.Artifacts = map[string]nodeconfig.Artifact{"containerd": c.artifact}
		})
		_, problems := New(n, ubuntu(t))
		fatal := nodeconfig.Fatal(problems)
		if c.at == "" && len(fatal) > 0 || c.at != "" && (len(fatal) != 1 || fatal[0].Path != c.at || !strings.Contains(fatal[0].Reason, c.says)) {
			t.Errorf("%+v: %v", c.artifact, fatal)
		}
	}
}

// A node that runs is drained for another package, and is not for what the image has.
func TestRuntimePackageEffects(t *testing.T) {
	for url, want := range map[string]resource.Class{"": resource.None, "https://x.example/runc.amd64": resource.Drain} {
		n := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
			n.Components.Artifacts = map[string]nodeconfig.Artifact{"runc": {URL: url}}
		})
		p, _ := New(n, facts.Facts{})
		for _, r := range p.Resources {
			if r.Spec.Name() == "/etc/systemd/system/containerd.service" && (r.Effects.Class != want || !slices.Equal(r.Effects.Restarts, []string{concern.ContainerdUnit})) {
				t.Errorf("%q: %+v", url, r.Effects)
			}
		}
	}
}

// The registry of an isolated cluster gets the machine's identity, and each cause of a failed download has an exit code. Other
// servers get no identity.
func TestRuntimePackagesOfRegistry(t *testing.T) {
	for place, isolated := range map[string]bool{
		"registry.azurecr.io/containerd:v2.0.4":                        true,
		"other.example/containerd:v2.0.4":                              false,
		"https://x.example/containerd-2.0.4-linux-amd64.tar.gz":        false,
		"https://registry.azurecr.io/containerd_2.0.4-1_amd64.deb?a=b": false,
	} {
		n := contract(t, "aks/azure-cni.json", func(n *nodeconfig.NodeConfig) {
			n.Components.Registry = "registry.azurecr.io"
			n.Components.Artifacts = map[string]nodeconfig.Artifact{"containerd": {URL: place}}
			n.Cloud.Azure.Identity.UserAssignedID, n.Cloud.Azure.TenantID = "11111111-1111-1111-1111-111111111111", "33333333-3333-3333-3333-333333333333"
		})
		p, problems := New(n, ubuntu(t))
		r := downloadIn(p, "containerd")
		if r == nil || len(nodeconfig.Fatal(problems)) > 0 {
			t.Fatalf("%s: %v", place, problems)
		}
		d := r.Spec.(*resource.Download)
		want := 0
		if isolated {
			want = exitcode.RegistryRefused
		}
		if (d.Reach.Identity != nil) != isolated || d.ExitCodes[resource.CauseRefused] != want || r.ExitCode != exitcode.ContainerdDownloadFailed ||
			d.ExitCodes[resource.CauseUnpack] != exitcode.ContainerdInstallFailed || r.Phase != resource.Base || d.Version != "2.0.4" {
			t.Errorf("%s: %+v", place, r)
		}
	}
}
