package eksctl

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/distro"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// row describes the handling of a field that is not translated. A row without a kind does not concern the node: the field is
// for the program that creates the machine or the cluster, and causes no warning.
type row struct {
	field string
	kind  nodeconfig.ProblemKind
	why   string
	// needed means that the field prevents a node, unless the user allows it by name.
	needed bool
}

// anyGroup stands for a group in the names of fields.
const anyGroup = "group."

// others are those fields (eksctl: config file schema, v1alpha5).
var others = []row{
	{field: "outpost", kind: nodeconfig.NotApplied, needed: true,
		why: "is not applied by this version: the node of a cluster on an outpost joins by the cluster's identifier"},
	{field: "group.bottlerocket", kind: nodeconfig.NotApplied, why: "is not applied, because it is for the family Bottlerocket"},
}

// creators are the fields without a kind.
var creators = map[string]string{
	"": "accessConfig addons addonsConfig autoModeConfig autonomousModeConfig availabilityZones capabilities cloudWatch " +
		"controlPlaneScalingConfig deletionProtection fargateProfiles git gitops iam iamIdentityMappings identityProviders karpenter " +
		"kubeAPIServerConfig kubeControllerManagerConfig kubeSchedulerConfig " +
		"localZones privateCluster remoteNetworkConfig secretsEncryption upgradePolicy vpc zonalShiftConfig",
	"metadata.": "accountID annotations forceUpdateVersion rollbackConfig tags",
	"status.":   "apiServerUnreachable eksctlCreated id stackName",
	anyGroup: "additionalEncryptedVolume additionalVolumes ami asgMetricsCollection asgSuspendProcesses availabilityZones capacityReservation " +
		"classicLoadBalancerNames cpuCredits desiredCapacity disableASGTagPropagation disableIMDSv1 disablePodIMDS ebsOptimized " +
		"enableDetailedMonitoring enclaveEnabled iam instanceMarketOptions instanceName instancePrefix instanceSelector launchTemplate localZones " +
		"maxInstanceLifetime maxSize minSize nodeRepairConfig outpostARN placement privateNetworking propagateASGTags releaseVersion " +
		"securityGroups subnets tags targetGroupARNs updateConfig volumeEncrypted volumeIOPS volumeKmsKeyID volumeName volumeSize " +
		"volumeThroughput volumeType",
	anyGroup + "instancesDistribution.": "capacityRebalance maxPrice onDemandBaseCapacity onDemandPercentageAboveBaseCapacity " +
		"spotAllocationStrategy spotInstancePools",
	anyGroup + "ssh.": "allow publicKey publicKeyName publicKeyPath sourceSecurityGroupIds",
}

// otherField returns the row of a field that is not translated; ok is false for an unknown field.
func otherField(name string) (r row, ok bool) {
	for _, r := range others {
		if r.field == name {
			return r, true
		}
	}
	cut := strings.LastIndexByte(name, '.') + 1
	for known := range strings.FieldsSeq(creators[name[:cut]]) {
		if known == name[cut:] {
			return row{field: name}, true
		}
	}
	return row{}, false
}

// managedOnly and selfOnly are the fields that one kind of group has, and the other not.
var (
	managedOnly = []string{"instanceTypes", "spot"}
	selfOnly    = []string{"clusterDNS", "containerRuntime", "instancesDistribution", "kubeletExtraConfig"}
)

// refusedKeys are the keys of the kubelet's configuration that eksctl always refuses (eksctl: customizing kubelet
// configuration).
var refusedKeys = []string{"address", "apiVersion", "authentication", "authorization", "clusterDomain", "kind", "serverTLSBootstrap"}

// family is an operating system of machines (eksctl: config file schema, amiFamily).
type family struct {
	name string
	// layout is the family of nodes, os and version what the image's os-release names.
	layout, os, version string
	// last is the last minor version of Kubernetes that has images; 0 means that there is no last one yet.
	last int
	// warning is a warning for the family's users.
	warning string
	// scripts means that eksctl writes a script for commands on the machine, which also sets two labels. managedScripts means the same for
	// managed groups: there, except for Ubuntu, the image contains the script instead (eksctl: pkg/nodebootstrap, NewManagedBootstrapper).
	scripts, managedScripts bool
	// nodeadm means that overrideBootstrapCommand is a nodeadm NodeConfig (eksctl: pkg/nodebootstrap/al2023.go).
	nodeadm bool
}

// families are those that a node is made of.
var families = append([]family{
	{name: amazonLinux2023, layout: nodeconfig.LayoutEKS, os: distro.AmazonLinux, version: "2023", nodeadm: true},
	{name: "AmazonLinux2", layout: nodeconfig.LayoutEksctl, os: distro.AmazonLinux, version: "2", last: 32, scripts: true,
		// Amazon EKS User Guide, Amazon EKS AL2 and AL2-accelerated AMIs transition guide
		warning: "has had no new images since November 2025, and so gets no security updates; use " + amazonLinux2023},
}, ubuntus("2004", "2204", "2404", "2604")...)

// ubuntus are Canonical's images for EKS, whose kubelet is the snap kubelet-eks.
func ubuntus(releases ...string) (all []family) {
	for _, name := range []string{"Ubuntu", "UbuntuPro"} {
		for _, release := range releases {
			all = append(all, family{
				name: name + release, layout: nodeconfig.LayoutEksctl, os: distro.Ubuntu, version: release[:2] + "." + release[2:], scripts: true, managedScripts: true,
			})
		}
	}
	return all
}

// otherFamilies are the known families without support, by the prefix of their names, with the reason.
var otherFamilies = []struct{ prefix, why string }{
	{"Bottlerocket", "is Bottlerocket, which its own settings configure and no agent: create the group with eksctl, or use " + amazonLinux2023},
	{"Windows", "is Windows, and Slipway makes Linux nodes: create the group with eksctl"},
}

// amazonLinux2023 is also the family of a group that names none (eksctl: DefaultNodeImageFamily).
const amazonLinux2023 = "AmazonLinux2023"

// defaultType is the type of machines that eksctl takes where a group names none (eksctl: config file schema).
const defaultType = "m5.large"
