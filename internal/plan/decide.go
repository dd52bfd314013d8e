package plan

import (
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/distro"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

func newInput(c *nodeconfig.NodeConfig, f facts.Facts, set ...func(*input)) *input {
	given := c
	takesInstalled := c.Cluster.KubernetesVersion == nodeconfig.InstalledVersion
	if takesInstalled {
		planned := *c
		planned.Cluster.KubernetesVersion = KubernetesVersion(c, f)
		c = &planned
	}
	c, awaited := withAuthority(c, f)
	in := &input{
		takesInstalled: takesInstalled,
		awaited:        awaited,
		config:         c,
		given:          given,
		facts:          f,
		family:         profile.Of(c.Components.Layout),
		minor:          minorOf(c.Cluster.KubernetesVersion),
		starter:        starterOf(c),
	}
	for _, set := range set {
		set(in)
	}
	in.distro, in.like = distro.Of(f.OS)
	in.defaults, in.lacksDefaults = knownDefaults(in)
	paths, usual := &in.family.Paths, &in.distro.Programs
	in.containerd = in.programPlace(containerdName, paths.Containerd, usual.Containerd)
	in.containerd, in.containerdPackage = in.runtimeProgram(containerdName, in.containerd, containerdFiles, exitcode.ContainerdInstallFailed)
	in.runc = in.programPlace(runcName, paths.Runc, usual.Runc)
	in.runc, in.runcPackage = in.runtimeProgram(runcName, in.runc, runcFiles, exitcode.RuncInstallFailed)
	in.schema = criSchemas[in.containerdMajor()]
	in.driver = runtimeDriver(c, in.schema)
	if in.slice, _ = forKubernetes.slice(in); in.slice == "" {
		in.slice = systemSlice
	}
	in.client = clientOf(c, f, in.family.Attested.Client)
	in.coreDNS = programOf(f, in.family.LocalDNS.Program)
	in.method = joinMethod(c, in.client)
	if in.method == nodeconfig.JoinBootstrapToken || in.method == nodeconfig.JoinAttested {
		in.certificate = retiringCertificate(c.Kubelet)
	}
	in.capacity = newCapacity(in)
	in.wanted = wantedFacts(in)
	in.resolver, in.resolverAssumed = podResolver(in)
	return in
}

// wantedFacts are the variables of the facts that the node cannot be made without, each with the setting that wants it.
func wantedFacts(in *input) map[string]string {
	wanted := make(map[string]string)
	if !in.joins() {
		return wanted
	}
	if in.needsAddress() && len(in.config.Kubelet.NodeIPs) == 0 && kubeletSetting(in.config.Kubelet, "node-ip", "", "") == "" {
		wanted[addressVariable] = "$.kubelet.nodeIPs"
	}
	if in.givesProviderID() {
		wanted[idVariable], wanted[zoneVariable] = "$.cloud.provider", "$.cloud.provider"
	}
	for _, label := range in.config.Kubelet.MachineLabels {
		if f := labelled(label); f != nil {
			wanted[f.variable] = "$.kubelet.machineLabels"
		}
	}
	if in.looksUpPods() {
		wanted[typeVariable] = capacityPath
	}
	return wanted
}
