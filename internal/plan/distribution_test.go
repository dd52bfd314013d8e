package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The container runtime's programs have the facts' paths if these are usual ones of the distribution, or else the family's paths, if
// the distribution can have them there.
func TestPlacesOfTheContainerRuntime(t *testing.T) {
	debian, amazon, suse := facts.OS{ID: "debian"}, facts.OS{ID: "amzn", VersionID: "2023"}, facts.OS{ID: "sles", IDLike: "suse"}
	for _, c := range []struct {
		os               facts.OS
		has              []string
		containerd, runc string
	}{
		{facts.OS{}, nil, "/usr/bin/containerd", "/usr/bin/runc"},
		{debian, nil, "/usr/bin/containerd", "/usr/bin/runc"},
		{debian, []string{"/usr/local/bin/containerd", "/usr/sbin/runc"}, "/usr/local/bin/containerd", "/usr/sbin/runc"},
		{debian, []string{"/opt/x/containerd", "/usr/sbin/runc;reboot"}, "/usr/bin/containerd", "/usr/bin/runc"},
		{debian, []string{"/usr/sbin/runc", "/usr/bin/runc"}, "/usr/bin/containerd", "/usr/bin/runc"},
		{amazon, nil, "/usr/bin/containerd", "/usr/sbin/runc"},
		{amazon, []string{"/usr/bin/runc"}, "/usr/bin/containerd", "/usr/bin/runc"},
		{facts.OS{ID: "amzn", VersionID: "2"}, nil, "/usr/bin/containerd", "/usr/bin/runc"},
		{suse, []string{"/usr/sbin/containerd", "/usr/sbin/runc"}, "/usr/sbin/containerd", "/usr/sbin/runc"},
		{facts.OS{ID: "arch"}, nil, "/usr/bin/containerd", "/usr/bin/runc"},
	} {
		known := facts.Facts{OS: c.os}
		for _, at := range c.has {
			name := "containerd"
			if strings.Contains(at, "runc") {
				name = "runc"
			}
			known.Components = append(known.Components, components.Component{Name: name, Version: "2.1.4", Path: at})
		}
		p, _ := New(contract(t, "native/minimal.yaml"), known)
		unit, config := string(fileAt(t, p, "/etc/systemd/system/containerd.service").Content), string(fileAt(t, p, concern.ContainerdConfig).Content)
		if !strings.Contains(unit, "\nExecStart="+c.containerd+"\n") || !strings.Contains(config, `BinaryName = "`+c.runc+`"`) {
			t.Errorf("%+v with %q: want %s and %s, got\n%s\n%s", c.os, c.has, c.containerd, c.runc, unit, config)
		}
	}
}

// An image without the distribution's updater makes a node without updates, and says so. It can do without what turns them off.
func TestNoUpdater(t *testing.T) {
	for _, c := range []struct {
		wanted, lacks bool
		settings      string
		warned        int
	}{
		{wanted: true, settings: "Unattended-Upgrade \"1\""},
		{wanted: true, lacks: true, warned: 1},
		{settings: "Unattended-Upgrade \"0\""},
		{lacks: true, settings: "Unattended-Upgrade \"0\""},
	} {
		known := facts.Facts{OS: facts.OS{ID: "debian", VersionID: "13"}, NoUpdater: c.lacks}
		p, problems := New(contract(t, "native/minimal.yaml", func(config *nodeconfig.NodeConfig) { config.System.UnattendedUpgrades = &c.wanted }), known)
		if len(problems) != c.warned || c.warned > 0 && (problems[0].Path != "$.system.unattendedUpgrades" || problems[0].Fatal) {
			t.Errorf("%+v: %v", c, problems)
		}
		written := ""
		for _, r := range p.Resources {
			if strings.Contains(string(r.ID()), "apt-daily") && c.lacks && c.wanted {
				t.Errorf("%+v: planned is %s", c, r.ID())
			}
			if f, ok := r.Spec.(*resource.File); ok && f.Path == "/etc/apt/apt.conf.d/99periodic" {
				written = string(f.Content)
			}
		}
		if !strings.Contains(written, c.settings) || c.settings == "" && written != "" {
			t.Errorf("%+v: the file has %q", c, written)
		}
	}
}

// If the image credential provider is in another directory than the contract's, and nothing brings it, that is reported.
func TestProviderInAnotherDirectory(t *testing.T) {
	const usual = "/etc/eks/image-credential-provider"
	for _, c := range []struct {
		binDir, url string
		known       []components.Component
		want        bool
	}{
		{"/opt/bin", "", []components.Component{{Name: "ecr-credential-provider", Path: usual + "/ecr-credential-provider"}}, true},
		{usual, "", []components.Component{{Name: "ecr-credential-provider", Path: usual + "/ecr-credential-provider"}}, false},
		{"/opt/bin", "https://x.example/provider.tar.gz", []components.Component{{Name: "ecr-credential-provider", Path: usual + "/ecr-credential-provider"}}, false},
		{"/opt/bin", "", []components.Component{{Name: "kubelet", Version: "1.36.3", Path: "/usr/bin/kubelet"}}, false},
		{"/opt/bin", "", nil, false},
	} {
		n := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
			n.Kubelet.ImageCredentialProvider = &nodeconfig.ImageCredentialProvider{BinDir: c.binDir, Config: map[string]any{
				"apiVersion": "kubelet.config.k8s.io/v1", "kind": "CredentialProviderConfig",
				"providers": []any{map[string]any{"name": "ecr-credential-provider", "matchImages": []any{"*.dkr.ecr.*.amazonaws.com"}, "defaultCacheDuration": "12h", "apiVersion": "credentialprovider.kubelet.k8s.io/v1"}},
			}}
			if c.url != "" {
				n.Components.Artifacts = map[string]nodeconfig.Artifact{"credential-provider": {URL: c.url}}
			}
		})
		_, problems := New(n, facts.Facts{OS: facts.OS{ID: "amzn", VersionID: "2023"}, Components: c.known})
		found := slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool {
			return p.Kind == nodeconfig.NotInstalled && p.Path == "$.kubelet.imageCredentialProvider.binDir" && !p.Fatal
		})
		if found != c.want {
			t.Errorf("%s, %q, %v: %v", c.binDir, c.url, c.known, problems)
		}
	}
}

// If no fact has the version of control groups, the default of the distribution's release causes a warning, not an error.
func TestControlGroupsOfTheDistribution(t *testing.T) {
	for _, c := range []struct {
		os       facts.OS
		known    int
		version  string
		problems string // "", "warning" or "error"
	}{
		{facts.OS{ID: "amzn", VersionID: "2"}, 0, "1.36.3", "warning"},
		{facts.OS{ID: "amzn", VersionID: "2"}, 1, "1.36.3", "error"},
		{facts.OS{ID: "amzn", VersionID: "2"}, 2, "1.36.3", ""},
		{facts.OS{ID: "amzn", VersionID: "2"}, 0, "1.34.2", ""},
		{facts.OS{ID: "amzn", VersionID: "2023"}, 0, "1.36.3", ""},
		{facts.OS{ID: "rocky", VersionID: "8.10"}, 0, "1.36.3", "warning"},
		{facts.OS{ID: "rocky", VersionID: "9.4"}, 0, "1.36.3", ""},
		{facts.OS{ID: "cloudlinux", VersionID: "8.10", IDLike: "rhel"}, 0, "1.36.3", ""},
		{facts.OS{}, 0, "1.36.3", ""},
	} {
		n := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) { n.Cluster.KubernetesVersion = c.version })
		_, problems := New(n, facts.Facts{OS: c.os, CgroupVersion: c.known})
		got := ""
		for _, p := range problems {
			if strings.Contains(p.Reason, "control groups of version 1") {
				if got = "warning"; p.Fatal {
					got = "error"
				}
			}
		}
		if got != c.problems {
			t.Errorf("%+v with %d and Kubernetes %s: got %q, want %q: %v", c.os, c.known, c.version, got, c.problems, problems)
		}
	}
}

// Only a distribution that is not in the table is reported, once, with the similar distribution that is used instead.
func TestSimilarDistributionIsReported(t *testing.T) {
	for _, c := range []struct {
		os   facts.OS
		want string
	}{
		{facts.OS{ID: "cloudlinux", IDLike: "rhel fedora centos"}, `"cloudlinux" is not in the table of distributions: the node is made as on Red Hat Enterprise Linux`},
		{facts.OS{ID: "pop", IDLike: "ubuntu debian"}, `"pop" is not in the table of distributions: the node is made as on Ubuntu`},
		{facts.OS{ID: "rocky", IDLike: "rhel centos fedora"}, ""},
		{facts.OS{ID: "sles", IDLike: "suse"}, ""},
		{facts.OS{ID: "arch"}, ""},
		{facts.OS{}, ""},
	} {
		_, problems := New(contract(t, "native/minimal.yaml"), facts.Facts{OS: c.os})
		var reports []string
		for _, p := range problems {
			if p.Path == "$" {
				reports = append(reports, p.Reason)
			}
		}
		if c.want == "" && len(reports) > 0 || c.want != "" && (len(reports) != 1 || !strings.Contains(reports[0], c.want)) {
			t.Errorf("%+v: got %q, want %q", c.os, reports, c.want)
		}
	}
}

// NetworkManager reads its settings when it is reloaded, and connections do not end.
func TestNetworkManagerIsReloaded(t *testing.T) {
	n := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
		n.Network.Nameservers, n.Network.SearchDomains = []string{"10.0.0.53", "fd00::53"}, []string{"a.example", "b.example"}
	})
	p, problems := New(n, facts.Facts{OS: facts.OS{ID: "rhel", VersionID: "9.4"}})
	if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
		t.Fatal(fatal)
	}
	for file, want := range map[string]string{
		"60-slipway-dns.conf":    "[global-dns-domain-*]\nservers=10.0.0.53,fd00::53\n",
		"70-slipway-search.conf": "[global-dns]\nsearches=a.example,b.example\n",
	} {
		r := resourceAt(p, resource.ID("File:/etc/NetworkManager/conf.d/"+file))
		if got := string(fileAt(t, p, "/etc/NetworkManager/conf.d/"+file).Content); got != want || !slices.Equal(r.Effects.Reloads, []string{"NetworkManager.service"}) {
			t.Errorf("%s: got %q with %+v, want %q", file, got, r.Effects, want)
		}
	}
}
