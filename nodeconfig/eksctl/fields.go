package eksctl

import (
	"strings"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// row says what becomes of a field that is not translated. One without a kind is of no node: it is for whoever creates the
// machine or the cluster, and nobody is warned of it.
type row struct {
	field string
	kind  nodeconfig.ProblemKind
	why   string
	// needed says that no node is made where it is set, unless it is allowed by name.
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
		"localZones privateCluster remoteNetworkConfig secretsEncryption upgradePolicy vpc zonalShiftConfig",
	"metadata.": "accountID annotations tags",
	"status.":   "apiServerUnreachable eksctlCreated id stackName",
	anyGroup: "additionalEncryptedVolume additionalVolumes ami asgMetricsCollection asgSuspendProcesses availabilityZones capacityReservation " +
		"classicLoadBalancerNames cpuCredits desiredCapacity disableASGTagPropagation disableIMDSv1 disablePodIMDS ebsOptimized " +
		"enableDetailedMonitoring iam instanceMarketOptions instanceName instancePrefix instanceSelector launchTemplate localZones " +
		"maxInstanceLifetime maxSize minSize nodeRepairConfig outpostARN placement privateNetworking propagateASGTags releaseVersion " +
		"securityGroups subnets tags targetGroupARNs updateConfig volumeEncrypted volumeIOPS volumeKmsKeyID volumeName volumeSize " +
		"volumeThroughput volumeType",
	anyGroup + "instancesDistribution.": "capacityRebalance maxPrice onDemandBaseCapacity onDemandPercentageAboveBaseCapacity " +
		"spotAllocationStrategy spotInstancePools",
	anyGroup + "ssh.": "allow publicKey publicKeyName publicKeyPath sourceSecurityGroupIds",
}

// otherField says what becomes of a field that is not translated; ok is false for one that is not known.
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

// refusedKeys are those of the kubelet's configuration that eksctl takes from nobody (eksctl: customizing kubelet
// configuration).
var refusedKeys = []string{"address", "apiVersion", "authentication", "authorization", "clusterDomain", "kind", "serverTLSBootstrap"}

// families are those of images that a node is made of, and others those that are known, with the reason why none is.
var (
	families = []string{
		"AmazonLinux2", "Ubuntu2004", "Ubuntu2204", "Ubuntu2404", "Ubuntu2604", "UbuntuPro2004", "UbuntuPro2204", "UbuntuPro2404", "UbuntuPro2604",
	}
	otherFamilies = map[string]string{
		amazonLinux2023: "is started by nodeadm, which has a contract of its own (node.eks.aws)",
		"Bottlerocket":  "has neither a shell nor a unit that anybody but its own API configures",
	}
)

// amazonLinux2023 is also what eksctl takes where a group names no family (eksctl docs, node bootstrapping).
const amazonLinux2023 = "AmazonLinux2023"

// defaultType is the type of machines that eksctl takes where a group names none (eksctl: config file schema).
const defaultType = "m5.large"
