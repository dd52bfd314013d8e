package azure

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// option is one of the settings.
type option struct {
	// name is its name as a flag of Karpenter and in a YAML document, variables are its names in the environment, the first
	// one that is set counts. former is its key in the ConfigMap karpenter-global-settings.
	name      string
	variables []string
	former    string
	standard  string
	required  need
	secret    bool
	// blank is the meaning of an empty text, if the option has a default.
	blank blank
	// check returns what is wrong with a value that is not empty.
	check func(string) string
	// set takes a value that has been checked, for what decides more than one field of a node; it may be nil.
	set func(*Settings, string)
	// into puts such a value into a node or its machine; nil for an option of the controller.
	into func(*launch.Document, string)
	// effect is the purpose of an option that changes no node, and so has neither set nor into.
	effect string
}

// need is whether a launch needs an option.
type need uint8

const (
	// always is for an option that only the settings have.
	always need = iota + 1
	// orDetected is for an option that the detected facts may have instead. So it is reported as missing when the layers are merged.
	orDetected
)

// blank is the meaning of an empty text as an option's value (Karpenter for Azure: options_validation.go).
type blank uint8

const (
	isDefault blank = iota
	isValue
	isWrong
)

// The purposes of options that change no node.
const (
	// ofCore is what the part of Karpenter does that all clouds share.
	ofCore = "of Karpenter's core; changes no node"
	// ofController is what the program that launches does itself.
	ofController = "of the controller itself; changes no node"
	// ofOthers is for options that Slipway replaces by other means. Only values that request nothing are accepted.
	ofOthers = "for what Slipway does differently"
)

func text(field func(*Settings) *string) func(*Settings, string) {
	return func(s *Settings, v string) { *field(s) = v }
}

// provisionModes are Karpenter's. A launch is for the first of them.
var provisionModes = []string{"aksscriptless", "bootstrappingclient", "aksmachineapi", "aksmachineapiheaderbatch"}

// Why Slipway has no use for an option, and what to do.
const (
	noServer   = "a server would make the user data, and Slipway makes it itself"
	noMachines = "AKS's own interface would make the nodes, and it takes no template"
)

// options are all settings (Karpenter for Azure v1.7: pkg/operator/options; the former keys: its pkg/apis/settings of 2023).
var options = slices.Concat([]option{
	{name: "cluster-name", variables: []string{"CLUSTER_NAME"}, former: "azure.clusterName", required: always, check: plain, set: text(func(s *Settings) *string { return &s.Cluster }), into: func(d *launch.Document, v string) { d.Node.Cluster.Name = v }},
	{name: "cluster-endpoint", variables: []string{"CLUSTER_ENDPOINT"}, former: "azure.clusterEndpoint", required: always, check: absoluteURL, set: text(func(s *Settings) *string { return &s.Endpoint }), into: func(d *launch.Document, v string) { d.Node.Cluster.Server = server(v) }},
	{name: "kubernetes-version", set: text(func(s *Settings) *string { return &s.KubernetesVersion }), into: factRow("kubernetesVersion").set},
	{name: "join-method", check: among(string(nodeconfig.JoinBootstrapToken), string(nodeconfig.JoinAttested)), set: text(func(s *Settings) *string { return &s.JoinMethod }), into: func(d *launch.Document, v string) { d.Node.Join.Method = nodeconfig.JoinMethod(v) }},
	{name: "vm-memory-overhead-percent", variables: []string{"VM_MEMORY_OVERHEAD_PERCENT"}, former: "azure.vmMemoryOverheadPercent", standard: "0.075", check: fraction, into: func(d *launch.Document, v string) { d.Machine.MemoryOverhead, _ = strconv.ParseFloat(v, 64) }},
	{name: "kubelet-bootstrap-token", variables: []string{"KUBELET_BOOTSTRAP_TOKEN"}, former: "azure.kubeletClientTLSBootstrapToken", secret: true, check: token, set: func(s *Settings, v string) { s.BootstrapToken = nodeconfig.NewSecret(v) }},
	{name: "linux-admin-username", variables: []string{"LINUX_ADMIN_USERNAME"}, standard: "azureuser", blank: isWrong, check: userName, into: func(d *launch.Document, v string) { d.Machine.AdminUser = v }},
	{name: "ssh-public-key", variables: []string{"SSH_PUBLIC_KEY"}, former: "azure.sshPublicKey", required: always, check: oneLine, into: func(d *launch.Document, v string) { d.Machine.SSHPublicKey = launch.PublicKey(v) }},
	{name: "network-plugin", variables: []string{"NETWORK_PLUGIN"}, former: "azure.networkPlugin", standard: "azure", blank: isWrong, check: among("azure", "none"), set: text(func(s *Settings) *string { return &s.NetworkPlugin }), into: factRow("networkPlugin").set},
	{name: "network-plugin-mode", variables: []string{"NETWORK_PLUGIN_MODE"}, standard: "overlay", blank: isValue, check: among("overlay"), set: text(func(s *Settings) *string { return &s.NetworkMode }), into: factRow("networkPluginMode").set},
	{name: "network-policy", variables: []string{"NETWORK_POLICY"}, former: "azure.networkPolicy", check: among("azure", "calico", "cilium", "none"), into: factRow("networkPolicy").set},
	{name: "network-dataplane", variables: []string{"NETWORK_DATAPLANE"}, standard: "cilium", blank: isValue, check: among("azure", "cilium"), into: factRow("networkDataplane").set},
	{name: "dns-service-ip", variables: []string{"DNS_SERVICE_IP"}, check: address, into: func(d *launch.Document, v string) { d.Machine.Network.DNS = list(v) }},
	{name: "vnet-guid", variables: []string{"VNET_GUID", "AZURE_VNET_GUID"}, check: guid, into: factRow("vnetGUID").set},
	{name: "vnet-subnet-id", variables: []string{"VNET_SUBNET_ID"}, required: orDetected, check: subnetID, set: text(func(s *Settings) *string { return &s.SubnetID }), into: factRow("subnetID").set},
	{name: "cluster-id", former: "azure.clusterID", check: clusterID, set: text(func(s *Settings) *string { return &s.ClusterID }), into: func(d *launch.Document, v string) { d.Machine.Network.ClusterID = v }},
	{name: "node-identities", variables: []string{"NODE_IDENTITIES"}, former: "azure.nodeIdentities", check: identityList, into: func(d *launch.Document, v string) { d.Machine.Identities, _ = parseIdentities(v) }},
	{name: "kubelet-identity-client-id", variables: []string{"KUBELET_IDENTITY_CLIENT_ID"}, check: guid, into: factRow("kubeletIdentity").set},
	{name: "node-resource-group", variables: []string{"AZURE_NODE_RESOURCE_GROUP"}, required: orDetected, check: resourceGroup, set: text(func(s *Settings) *string { return &s.NodeResourceGroup }), into: factRow("nodeResourceGroup").set},
	{name: "provision-mode", variables: []string{"PROVISION_MODE"}, standard: provisionModes[0], blank: isWrong, effect: ofOthers, check: provisionMode},
	{name: "nodebootstrapping-server-url", variables: []string{"NODEBOOTSTRAPPING_SERVER_URL"}, secret: true, effect: ofOthers, check: unused(noServer)},
	{name: "use-sig", variables: []string{"USE_SIG"}, standard: "false", check: among("true", "false"), set: func(s *Settings, v string) { s.UseSIG = v == "true" }},
	{name: "sig-access-token-server-url", variables: []string{"SIG_ACCESS_TOKEN_SERVER_URL"}, secret: true, effect: ofController, check: absoluteURL},
	{name: "sig-subscription-id", variables: []string{"SIG_SUBSCRIPTION_ID"}, check: guid, set: text(func(s *Settings) *string { return &s.SIGSubscription })},
	{name: "node-osdisk-diskencryptionset-id", variables: []string{"NODE_OSDISK_DISKENCRYPTIONSET_ID"}, check: encryptionSet, into: func(d *launch.Document, v string) { d.Machine.Disk.EncryptionSet = v }},
	{name: "manage-existing-aks-machines", variables: []string{"MANAGE_EXISTING_AKS_MACHINES"}, standard: "false", effect: ofOthers, check: off(noMachines)},
	{name: "aks-machines-pool-name", variables: []string{"AKS_MACHINES_POOL_NAME"}, effect: ofOthers, check: unused(noMachines)},
	{name: "provider-batch-idle-duration", variables: []string{"PROVIDER_BATCH_IDLE_DURATION"}, standard: "1s", effect: ofController, check: duration},
	{name: "provider-batch-max-duration", variables: []string{"PROVIDER_BATCH_MAX_DURATION"}, standard: "5s", effect: ofController, check: duration},
	{name: "provider-batch-max-size", variables: []string{"PROVIDER_BATCH_MAX_SIZE"}, standard: "50", effect: ofController, check: batchSize},
	{name: "additional-tags", variables: []string{"ADDITIONAL_TAGS"}, former: "azure.tags", check: tagList, into: func(d *launch.Document, v string) { d.Machine.Tags, _ = parseTags(v) }},
	{name: "enable-azure-sdk-logging", variables: []string{"ENABLE_AZURE_SDK_LOGGING"}, standard: "true", effect: ofController, check: among("true", "false")},
	{name: "subscription-id", variables: []string{"AZURE_SUBSCRIPTION_ID", "ARM_SUBSCRIPTION_ID"}, required: always, check: guid, set: text(func(s *Settings) *string { return &s.Subscription }), into: func(d *launch.Document, v string) { azureOf(d).SubscriptionID = v }},
	{name: "tenant-id", variables: []string{"AZURE_TENANT_ID", "ARM_TENANT_ID"}, check: guid, into: func(d *launch.Document, v string) { azureOf(d).TenantID = v }},
	{name: "location", variables: []string{"LOCATION"}, required: always, check: plain, set: text(func(s *Settings) *string { return &s.Location }), into: func(d *launch.Document, v string) { azureOf(d).Location = v }},
	{name: "cloud", variables: []string{"ARM_CLOUD"}, standard: "AzurePublicCloud", check: among(clouds...), into: func(d *launch.Document, v string) { azureOf(d).Environment = environmentName(v) }},
	{name: "azure-environment-filepath", variables: []string{"AZURE_ENVIRONMENT_FILEPATH"}, effect: ofOthers, check: unused("a file would describe another cloud, and a launch reads none; name one of Azure's in cloud")},
	{name: "system-namespace", variables: []string{"SYSTEM_NAMESPACE"}, effect: ofController, check: plain},
	{name: "cluster-resource-group", variables: []string{"ARM_RESOURCE_GROUP"}, effect: ofController, check: resourceGroup},
}, coreOptions())

// coreRows are the options of Karpenter's core, with their defaults (sigs.k8s.io/karpenter v1.15: pkg/operator/options; the former keys:
// its ConfigMap karpenter-global-settings of 2023). They may be beside the others, and Slipway uses none of them.
var coreRows = []struct{ name, former, standard string }{
	{"karpenter-service", "", ""}, {"metrics-port", "", "8080"}, {"health-probe-port", "", "8081"},
	{"kube-client-qps", "", "200"}, {"kube-client-burst", "", "300"}, {"enable-profiling", "", "false"},
	{"disable-controller-warmup", "", "true"}, {"disable-leader-election", "", "false"}, {"disable-cluster-state-observability", "", "false"},
	{"leader-election-name", "", "karpenter-leader-election"}, {"leader-election-namespace", "", ""},
	{"memory-limit", "", "-1"}, {"cpu-requests", "", "1000"},
	{"log-level", "", "info"}, {"log-output-paths", "", "stdout"}, {"log-error-output-paths", "", "stderr"},
	{"batch-max-duration", "batchMaxDuration", "10s"}, {"batch-idle-duration", "batchIdleDuration", "1s"},
	{"preference-policy", "", "Respect"}, {"min-values-policy", "", "Strict"}, {"ignore-dra-requests", "", "true"},
	{"legacy-node-repair", "", "false"}, {"feature-gates", anyGate, ""}, {"scheduler-config", "", ""},
}

// anyGate stands for the keys of feature gates, each with its name in place of the star.
const anyGate = "featureGates.*"

// coreOptions are the rows as options: the name in the environment is the flag's in capital letters.
func coreOptions() []option {
	all := make([]option, 0, len(coreRows))
	for _, r := range coreRows {
		variable := strings.ToUpper(strings.ReplaceAll(r.name, "-", "_"))
		all = append(all, option{name: r.name, variables: []string{variable}, former: r.former, standard: r.standard, effect: ofCore})
	}
	return all
}

// clouds are Azure's, by the names that its cloud provider has.
var clouds = []string{"AzurePublicCloud", "AzureChinaCloud", "AzureUSGovernmentCloud", "AzureUSGovernment"}

// environment are the options that are the environment of the program (AKS Node Bootstrapping: "Environment variables").
var environment = []string{"subscription-id", "tenant-id", "location", "cloud"}
