package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Packages of network plug-ins are called by what they hold, with the architecture and the version behind it.
const (
	azurePackages     = "azure-vnet-cni-"
	referencePackages = "cni-plugins-linux-"
)

// cniPlugins brings the image's network plug-ins to where the container runtime looks for them (AKS: installNetworkPlugin).
var cniPlugins = concern{
	name:  "CNI plug-ins",
	reads: []string{artifactOf(azureCNIName), CNIPluginPath, "$.network.policy"},
	plan:  planCNIPlugins,
}

func planCNIPlugins(in *input, out *output) {
	url := in.config.Components.Artifacts[azureCNIName].URL
	if !in.family.Host.CNIPackages {
		if url != "" {
			out.notApplied(AzureCNIURL)
		}
		return
	}
	if in.facts.CNI == nil {
		return // nothing is known
	}
	there := slices.Clone(in.facts.CNI.Plugins)
	bring := func(from facts.CNIPackage, over []string) {
		for _, name := range from.Files {
			if isPlugin(name) {
				out.cniPlugin(from, name, over)
				there = append(there, name)
			}
		}
	}
	if reference, ok := newestPackage(in.facts.CNI, referencePackages+in.facts.Architecture+"-v"); ok {
		bring(reference, nil)
	}
	if in.config.Network.Plugin == "azure" && url != "" {
		name := packageName(url)
		if found, ok := in.facts.CNI.Package(name); ok {
			bring(found, packagesBeside(in.facts.CNI, name))
		} else {
			there = append(there, out.azurePlugins(in, name)...)
		}
	}
	out.wantPlugins(in, there, url)
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
func (o *output) azurePlugins(in *input, name string) (there []string) {
	artifact := in.config.Components.Artifacts[azureCNIName]
	d := o.download(exitcode.CNIPluginMissing, "Azure's CNI plug-ins in the wanted version, which the image does not have unpacked", &resource.Download{
		Component: azureCNIName, SHA256: artifact.SHA256, Files: azureMembers,
		From: append([]string{facts.CNIDownloadsDir + "/" + name + ".tgz"}, places(artifact)...),
	})
	over := packagesBeside(in.facts.CNI, name)
	for _, member := range azureMembers {
		spec := &resource.Copy{Path: cniBinDir + "/" + member.Name, Source: d.Path(member.Name), Optional: member.Optional}
		for _, other := range over {
			spec.Over = append(spec.Over, facts.CNIDownloadsDir+"/"+other+"/"+member.Name)
		}
		o.add(resource.Resource{Phase: resource.Base, ExitCode: exitcode.CNIPluginMissing, Reason: "a CNI plug-in that was brought", Spec: spec})
		if !member.Optional {
			there = append(there, member.Name)
		}
	}
	return there
}

// cniPlugin has one file of a package where the container runtime looks for it. The network's own pods may bring another
// one (azure-cns, Cilium), which stays; one of another version of the package does not.
func (o *output) cniPlugin(from facts.CNIPackage, name string, beside []string) {
	spec := &resource.Copy{Path: cniBinDir + "/" + name, Source: facts.CNIDownloadsDir + "/" + from.Name + "/" + name}
	for _, other := range beside {
		spec.Over = append(spec.Over, facts.CNIDownloadsDir+"/"+other+"/"+name)
	}
	o.add(resource.Resource{Phase: resource.Base, ExitCode: exitcode.CNIPluginMissing, Reason: "a CNI plug-in of the image's packages", Spec: spec})
}

// wantPlugins wants the plug-ins that the node's own network needs. Whoever brings another network brings its plug-ins.
func (o *output) wantPlugins(in *input, there []string, url string) {
	var needed []string
	at := CNIPluginPath
	switch {
	case len(in.facts.Components) == 0:
		return // the facts are of no machine
	case in.config.Network.Plugin == "azure":
		needed = []string{"azure-vnet", "azure-vnet-ipam", "portmap"}
		if url != "" && !slices.Contains(there, "azure-vnet") {
			at = AzureCNIURL
		}
	case Kubenet(in.config):
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
	for _, p := range in.facts.CNI.Packages {
		packages = append(packages, p.Name)
	}
	if len(packages) > 0 {
		where = facts.CNIDownloadsDir + " has " + strings.Join(packages, ", ")
	}
	o.Fatal(nodeconfig.NotInstalled, at, "wants the CNI plug-ins %s, which are not in %s, and %s; use an image that has them, or name a package that is there",
		strings.Join(missing, ", "), cniBinDir, where)
}

// isPlugin reports whether a file of a package is more than its papers and its configuration.
func isPlugin(name string) bool {
	switch path.Ext(name) {
	case ".conflist", ".md", ".txt":
		return false
	}
	return name != "LICENSE" && !strings.HasPrefix(name, ".")
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
			(!ok || comparePackages(version, strings.TrimPrefix(newest.Name, prefix)) > 0) {
			newest, ok = p, true
		}
	}
	return newest, ok
}
