package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// azureFiles are the programs of Azure's package, with those that not each version has.
var azureFiles = []resource.Unpacked{
	{Name: "azure-vnet", Members: []string{"azure-vnet"}},
	{Name: "azure-vnet-ipam", Members: []string{"azure-vnet-ipam"}},
	{Name: "azure-vnet-ipamv6", Members: []string{"azure-vnet-ipamv6"}, Optional: true},
	{Name: "azure-vnet-stateless", Members: []string{"azure-vnet-stateless"}, Optional: true},
	{Name: "azure-vnet-telemetry", Members: []string{"azure-vnet-telemetry"}, Optional: true},
	{Name: "azure-vnet-telemetry.config", Members: []string{"azure-vnet-telemetry.config"}, Optional: true},
}

// azureList is Azure's configuration as its packages have it.
const azureList = `{
   "cniVersion":"0.3.0",
   "name":"azure",
   "plugins":[
      {
         "type":"azure-vnet",
         "mode":"transparent",
         "ipsToRouteViaHost":["169.254.20.10"],
         "ipam":{
            "type":"azure-vnet-ipam"
         }
      },
      {
         "type":"portmap",
         "capabilities":{
            "portMappings":true
         },
         "snat":true
      }
   ]
}
`

// withCNIPackages are the facts of an image that has two packages of each kind, and nothing in place.
func withCNIPackages(known facts.Facts) facts.Facts {
	bridged := strings.ReplaceAll(azureList, "transparent", "bridge")
	azure := []string{"10-azure.conflist", "LICENSE", "azure-vnet", "azure-vnet-ipam"}
	known.CNI = &facts.CNI{Packages: []facts.CNIPackage{
		{Name: "azure-vnet-cni-linux-amd64-v1.5.50", Files: azure, Conflist: bridged},
		{Name: "azure-vnet-cni-linux-amd64-v1.6.30", Files: azure, Conflist: azureList + "\n"},
		{Name: "cni-plugins-linux-amd64-v1.10.0", Files: []string{"README.md", "bridge", "host-local", "loopback", "portmap"}},
		{Name: "cni-plugins-linux-amd64-v1.9.1", Files: []string{"bridge"}},
		{Name: "cni-plugins-linux-arm64-v1.11.0", Files: []string{"bridge"}},
	}}
	return known
}

// copies are a plan's copies: "NAME = SOURCE, over OTHERS", without what all paths begin with.
func copies(p resource.Plan) []string {
	var list []string
	for _, r := range p.Resources {
		if c, ok := r.Spec.(*resource.Copy); ok {
			text := strings.TrimPrefix(c.Path, facts.CNIBinDir+"/") + " = " + strings.TrimPrefix(c.Source, facts.CNIDownloadsDir+"/")
			for _, over := range c.Over {
				text += ", over " + strings.TrimPrefix(over, facts.CNIDownloadsDir+"/")
			}
			list = append(list, text)
		}
	}
	return list
}

// The plug-ins come from the image's packages: Azure's in the version of the contract's URL, the others in the highest.
func TestCNIPlugins(t *testing.T) {
	const azure16, azure15 = "azure-vnet-cni-linux-amd64-v1.6.30", "azure-vnet-cni-linux-amd64-v1.5.50"
	const plugins = "cni-plugins-linux-amd64-v1.10.0/"
	reference := []string{"bridge = " + plugins + "bridge", "host-local = " + plugins + "host-local", "loopback = " + plugins + "loopback", "portmap = " + plugins + "portmap"}
	own := func(version, other string) []string {
		return []string{"azure-vnet = " + version + "/azure-vnet, over " + other + "/azure-vnet",
			"azure-vnet-ipam = " + version + "/azure-vnet-ipam, over " + other + "/azure-vnet-ipam"}
	}
	packages := withCNIPackages(ubuntu(t)).CNI
	const azure17 = "azure-vnet-cni-linux-amd64-v1.7.0"
	brought := func(name string, over ...string) (list []string) {
		d := &resource.Download{Component: "azure-cni", Files: azureFiles, From: []string{
			"/opt/cni/downloads/" + name + ".tgz", "https://packages.example/azure-cni/v1/binaries/" + name + ".tgz",
		}}
		for _, member := range azureFiles {
			text := member.Name + " = " + d.Path(member.Name)
			for _, other := range over {
				text += ", over " + other + "/" + member.Name
			}
			list = append(list, text)
		}
		return list
	}
	for _, c := range []struct {
		name, plugin, url string
		has               *facts.CNI
		want              []string
		reason            string // the problem's reason; empty without a problem
		at                string
		fatal             bool
	}{
		{name: "none", plugin: "none", url: azure16, has: packages, want: reference},
		{name: "kubenet", plugin: "kubenet", has: packages, want: reference},
		{name: "azure", plugin: "azure", url: azure16, has: packages, want: slices.Concat(own(azure16, azure15), reference)},
		{name: "an earlier version", plugin: "azure", url: azure15, has: packages, want: slices.Concat(own(azure15, azure16), reference)},
		{name: "a version that is not there", plugin: "azure", url: azure17, has: packages, want: slices.Concat(brought(azure17, azure15, azure16), reference)},
		{name: "no URL", plugin: "azure", has: packages, want: reference, reason: "wants the CNI plug-ins azure-vnet", at: setting.NetworkPlugin, fatal: true},
		{name: "in place", plugin: "azure", url: azure16, has: &facts.CNI{Plugins: []string{"azure-vnet", "azure-vnet-ipam", "portmap"}},
			want: brought(azure16)},
		{name: "in place, no URL", plugin: "azure", has: &facts.CNI{Plugins: []string{"azure-vnet", "azure-vnet-ipam", "portmap"}}},
		{name: "kubenet without anything", plugin: "kubenet", has: &facts.CNI{}, reason: "bridge, host-local, portmap", at: setting.NetworkPlugin, fatal: true},
		{name: "none without anything", plugin: "none", has: &facts.CNI{}},
		{name: "nothing known", plugin: "azure", url: azure16},
	} {
		n := contract(t, "aks/azure-cni.json", func(n *nodeconfig.NodeConfig) {
			n.Network.Plugin = c.plugin
			if c.url != "" {
				n.Components.Artifacts = map[string]nodeconfig.Artifact{"azure-cni": {URL: "https://packages.example/azure-cni/v1/binaries/" + c.url + ".tgz"}}
			}
		})
		known := ubuntu(t)
		known.CNI = c.has
		p, problems := New(n, known)
		if got := copies(p); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		problems = slices.DeleteFunc(problems, func(p nodeconfig.Problem) bool { return p.Kind != nodeconfig.NotInstalled })
		if c.reason == "" && len(problems) > 0 || c.reason != "" &&
			(len(problems) != 1 || !strings.Contains(problems[0].Reason, c.reason) || problems[0].Path != c.at || problems[0].Fatal != c.fatal) {
			t.Errorf("%s: problems are %v", c.name, problems)
		}
	}
	// Images of the other family have their plug-ins in place.
	n := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
		n.Network.Plugin, n.Components.Layout = "azure", nodeconfig.LayoutStandard
	})
	if p, problems := New(n, withCNIPackages(ubuntu(t))); len(copies(p)) > 0 || len(nodeconfig.Fatal(problems)) > 0 {
		t.Errorf("%q, %v", copies(p), problems)
	}
}

// A package's own configuration wins, in its version; Calico's nodes route also where an old one would bridge.
func TestAzureConflist(t *testing.T) {
	bridged := strings.ReplaceAll(azureList, "transparent", "bridge")
	for _, c := range []struct {
		version, policy string
		has             func(known *facts.Facts)
		want            string
	}{
		{version: "v1.6.30", want: azureList + "\n"},
		{version: "v1.5.50", want: bridged},
		{version: "v1.5.50", policy: "azure", want: bridged},
		{version: "v1.5.50", policy: "calico", want: azureList},
		{version: "v1.7.0", want: azureList},
		{version: "v1.7.0", has: func(f *facts.Facts) { f.CNI.Conflist = bridged }, want: bridged},
		{version: "v1.6.30", has: func(f *facts.Facts) { f.CNI = nil }, want: azureList},
	} {
		n := contract(t, "aks/azure-cni.json", func(n *nodeconfig.NodeConfig) {
			n.Network.Policy = c.policy
			n.Components.Artifacts = map[string]nodeconfig.Artifact{"azure-cni": {URL: "https://x.example/azure-vnet-cni-linux-amd64-" + c.version + ".tgz"}}
		})
		known := withCNIPackages(ubuntu(t))
		if c.has != nil {
			c.has(&known)
		}
		if got := string(fileAt(t, first(New(n, known)), "/etc/cni/net.d/10-azure.conflist").Content); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}
