package concern

import (
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/containerdapi"
	"github.com/slipway-dev/slipway/internal/distro"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/packed"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// NewInput decides what all concerns decide from. Each line may look at what the lines before it have decided. Functions in set make it the input of
// another node, such as one without an agent.
func NewInput(c *nodeconfig.NodeConfig, f facts.Facts, set ...func(*Input)) *Input {
	given := c
	takesInstalled := c.Cluster.KubernetesVersion == nodeconfig.InstalledVersion
	if takesInstalled {
		planned := *c
		planned.Cluster.KubernetesVersion = KubernetesVersion(c, f)
		c = &planned
	}
	c, awaited := withAuthority(c, f)
	family := profile.Of(c.Components.Layout)
	c = withServiceFamily(c, family.Kubelet.ServiceFamily)
	in := &Input{
		TakesInstalled: takesInstalled,
		Awaited:        awaited,
		Config:         c,
		Given:          given,
		Facts:          f,
		Family:         family,
		Minor:          plannedMinor(c, f),
		Starter:        starterOf(c),
	}
	for _, set := range set {
		set(in)
	}
	release := f.OS
	if os := c.Components.OS; os != nil && release.ID == "" {
		release = distro.Release{ID: os.ID, VersionID: os.VersionID}
	}
	in.Distro, in.Like = distro.Of(release)
	in.ImageProvider, _ = in.FamilyProvider()
	in.Config = in.withFamilyProvider()
	in.Config = in.withCloudName()
	in.FamilySettings = in.familySettings()
	in.Defaults, in.LacksDefaults = knownDefaults(in)
	paths, usual := &in.Family.Paths, &in.Distro.Programs
	in.Containerd = in.programPlace(ContainerdName, paths.Containerd, usual.Containerd)
	in.Containerd, in.ContainerdPackage = in.runtimeProgram(ContainerdName, in.Containerd, packed.Containerd, exitcode.ContainerdInstallFailed)
	in.Runc = in.programPlace(RuncName, paths.Runc, usual.Runc)
	in.Runc, in.RuncPackage = in.runtimeProgram(RuncName, in.Runc, packed.Runc, exitcode.RuncInstallFailed)
	version := in.containerdVersion()
	in.Schema, in.Releases = CRISchemas[MajorOf(version)], containerdapi.Of(version)
	in.Driver = runtimeDriver(c, in.Schema)
	if in.Slice, _ = ForKubernetes.Slice(in); in.Slice == "" {
		in.Slice = in.usualSlice()
	}
	in.Client = clientOf(c, f, in.Family.Attested.Client)
	in.CoreDNS = ProgramOf(f, in.Family.LocalDNS.Program)
	in.Method = joinMethod(c, in.Client)
	if in.Method == nodeconfig.JoinBootstrapToken || in.Method == nodeconfig.JoinAttested {
		in.Certificate = RetiringCertificate(c.Kubelet)
	}
	in.Capacity = newCapacity(in)
	in.Wanted = wantedFacts(in)
	in.Resolver, in.ResolverAssumed = podResolver(in)
	return in
}

// wantedFacts are the variables of the facts that the node cannot be made without, each with the setting that wants it.
func wantedFacts(in *Input) map[string]string {
	wanted := make(map[string]string)
	if !in.Joins() {
		return wanted
	}
	if in.NeedsAddress() && len(in.Config.Kubelet.NodeIPs) == 0 && kubeletsetting.Value(in.Config.Kubelet, "node-ip", "", "") == "" {
		wanted[AddressVariable] = "$.kubelet.nodeIPs"
	}
	if in.GivesProviderID() {
		wanted[IDVariable], wanted[ZoneVariable] = "$.cloud.provider", "$.cloud.provider"
	}
	if in.NeedsCloudName() {
		wanted[NameVariable] = "$.join.aws.region"
	}
	for _, label := range in.Config.Kubelet.MachineLabels {
		if f := Labelled(label); f != nil {
			wanted[f.Variable] = "$.kubelet.machineLabels"
		}
	}
	if in.LooksUpPods() {
		wanted[TypeVariable] = setting.KubeletCapacity
	}
	return wanted
}
