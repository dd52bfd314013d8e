package runtime

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/packed"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Packages of network plug-ins are called by what they hold, with the architecture and the version behind it.
const (
	azurePackages     = "azure-vnet-cni-"
	referencePackages = "cni-plugins-linux-"
)

// cniPlugins brings the image's network plug-ins to where the container runtime looks for them (AKS: installNetworkPlugin).
var cniPlugins = concern.Concern{
	Name:  "CNI plug-ins",
	Reads: []string{setting.Artifact(concern.AzureCNIName), setting.NetworkPlugin, "$.network.policy"},
	Plan:  planCNIPlugins,
}

func planCNIPlugins(in *concern.Input, out *concern.Output) {
	url := in.Config.Components.Artifacts[concern.AzureCNIName].URL
	if !in.Family.Host.CNIPackages {
		if url != "" {
			out.NotApplied(setting.AzureCNIURL)
		}
		return
	}
	if in.Facts.CNI == nil {
		return // no facts
	}
	there := slices.Clone(in.Facts.CNI.Plugins)
	bring := func(from facts.CNIPackage, over []string) {
		for _, name := range from.Files {
			if packed.IsCNIPlugin(name) {
				cniPlugin(out, from, name, over)
				there = append(there, name)
			}
		}
	}
	if reference, ok := newestPackage(in.Facts.CNI, referencePackages+in.Facts.Architecture+"-v"); ok {
		bring(reference, nil)
	}
	if in.Config.Network.Plugin == "azure" && url != "" {
		name := packageName(url)
		if found, ok := in.Facts.CNI.Package(name); ok {
			bring(found, packagesBeside(in.Facts.CNI, name))
		} else {
			there = append(there, azurePlugins(out, in, name)...)
		}
	}
	wantPlugins(out, in, there, url)
}

// azureMembers are the programs of Azure's package: those without which no pod has a network, and others, which are not in each
// version (Azure container networking: release archives of azure-vnet-cni).
var azureMembers = []resource.Unpacked{
	{Name: "azure-vnet", Members: []string{"azure-vnet"}},
	{Name: "azure-vnet-ipam", Members: []string{"azure-vnet-ipam"}},
	{Name: "azure-vnet-ipamv6", Members: []string{"azure-vnet-ipamv6"}, Optional: true},
	{Name: "azure-vnet-stateless", Members: []string{"azure-vnet-stateless"}, Optional: true},
	{Name: "azure-vnet-telemetry", Members: []string{"azure-vnet-telemetry"}, Optional: true},
	{Name: "azure-vnet-telemetry.config", Members: []string{"azure-vnet-telemetry.config"}, Optional: true},
}

// azurePlugins brings Azure's plug-ins that the image does not have unpacked: from an archive that it may have, or from the
// contract's URL (AKS: downloadAzureCNI). It returns those that are there then in any case.
func azurePlugins(o *concern.Output, in *concern.Input, name string) (there []string) {
	artifact := in.Config.Components.Artifacts[concern.AzureCNIName]
	d := o.Download(exitcode.CNIPluginMissing, "Azure's CNI plug-ins in the wanted version, which the image does not have unpacked", &resource.Download{
		Component: concern.AzureCNIName, SHA256: artifact.SHA256, Files: azureMembers,
		From: append([]string{facts.CNIDownloadsDir + "/" + name + ".tgz"}, concern.Places(artifact)...),
	})
	over := packagesBeside(in.Facts.CNI, name)
	for _, member := range azureMembers {
		spec := &resource.Copy{Path: concern.CNIBinDir + "/" + member.Name, Source: d.Path(member.Name), Optional: member.Optional}
		for _, other := range over {
			spec.Over = append(spec.Over, facts.CNIDownloadsDir+"/"+other+"/"+member.Name)
		}
		o.Append(resource.Resource{Phase: resource.Base, ExitCode: exitcode.CNIPluginMissing, Reason: "a CNI plug-in that was brought", Spec: spec})
		if !member.Optional {
			there = append(there, member.Name)
		}
	}
	return there
}

// cniPlugin has one file of a package where the container runtime looks for it. The network's own pods may bring another
// one (azure-cns, Cilium), which stays; one of another version of the package does not.
func cniPlugin(o *concern.Output, from facts.CNIPackage, name string, beside []string) {
	spec := &resource.Copy{Path: concern.CNIBinDir + "/" + name, Source: facts.CNIDownloadsDir + "/" + from.Name + "/" + name}
	for _, other := range beside {
		spec.Over = append(spec.Over, facts.CNIDownloadsDir+"/"+other+"/"+name)
	}
	o.Append(resource.Resource{Phase: resource.Base, ExitCode: exitcode.CNIPluginMissing, Reason: "a CNI plug-in of the image's packages", Spec: spec})
}

// wantPlugins wants the plug-ins of the node's own network. Another network's installer brings its plug-ins.
func wantPlugins(o *concern.Output, in *concern.Input, there []string, url string) {
	var needed []string
	at := setting.NetworkPlugin
	switch {
	case len(in.Facts.Components) == 0:
		return // the facts are of no machine
	case in.Config.Network.Plugin == "azure":
		needed = []string{"azure-vnet", "azure-vnet-ipam", "portmap"}
		if url != "" && !slices.Contains(there, "azure-vnet") {
			at = setting.AzureCNIURL
		}
	case Kubenet(in.Config):
		needed = []string{"bridge", "host-local", "portmap"}
	default:
		return
	}
	missing := slices.DeleteFunc(needed, func(name string) bool { return slices.Contains(there, name) })
	if len(missing) == 0 {
		return
	}
	where := "the image has none of its packages in " + facts.CNIDownloadsDir
	var packages []string
	for _, p := range in.Facts.CNI.Packages {
		packages = append(packages, p.Name)
	}
	if len(packages) > 0 {
		where = facts.CNIDownloadsDir + " has " + strings.Join(packages, ", ")
	}
	o.Fatal(nodeconfig.NotInstalled, at, "wants the CNI plug-ins %s, which are not in %s, and %s; use an image that has them, or name a package that is there",
		strings.Join(missing, ", "), concern.CNIBinDir, where)
}

// packagesBeside are the other packages of Azure's plug-ins.
func packagesBeside(known *facts.CNI, name string) []string {
	var others []string
	for _, p := range known.Packages {
		if p.Name != name && strings.HasPrefix(p.Name, azurePackages) {
			others = append(others, p.Name)
		}
	}
	return others
}

// newestPackage returns the package with the highest version of those whose names begin alike.
func newestPackage(known *facts.CNI, prefix string) (newest facts.CNIPackage, ok bool) {
	for _, p := range known.Packages {
		if version, matches := strings.CutPrefix(p.Name, prefix); matches &&
			(!ok || concern.ComparePackages(version, strings.TrimPrefix(newest.Name, prefix)) > 0) {
			newest, ok = p, true
		}
	}
	return newest, ok
}
