package launch

// fieldRow defines, for a field and all fields below it, when two values mean the same, and the class of a difference. If a row leaves
// something empty, the row with the next shorter path has it.
type fieldRow struct {
	path  string
	means *meaning
	// set is true if the order and the repetition of a list's items do not matter.
	set bool
	// standard is the field's value if no source sets it. It may be empty.
	standard string
	class    Drift
	reason   string
}

// fieldRows has the rows of all fields. A text has the meaning of its row or of the nearest row above it that has one.
var fieldRows = []fieldRow{
	{path: "$.node", class: InPlace, reason: "the agent applies a changed contract"},
	{path: "$.node.apiVersion", means: word},
	{path: "$.node.kind", means: word},
	{path: "$.node.metadata", means: word, class: Ignore, reason: "it names the document, and changes no node"},

	{path: "$.node.cluster.name", means: word},
	{path: "$.node.cluster.kubernetesVersion", means: version, class: Replace, reason: "the kubelet of a version is in the image"},
	{path: "$.node.cluster.kubernetesMinor", means: version},
	{path: "$.node.cluster.server", means: server},
	{path: "$.node.cluster.certificateAuthority", means: certificates},
	{path: "$.node.cluster.certificateAuthorityHashes", means: word, set: true},
	{path: "$.node.cluster.serverCertificate", means: certificates},
	{path: "$.node.cluster.dnsDomain", means: host},
	{path: "$.node.cluster.dnsServiceIPs", means: address},
	{path: "$.node.cluster.serviceCIDRs", means: subnet},

	{path: "$.node.join", means: word, class: Refresh, reason: "a node that has joined has its own certificate"},
	{path: "$.node.join.clientCertificate.certificate", means: certificates},
	{path: "$.node.join.attested.identityID", means: cloudID},

	{path: "$.node.kubelet.nodeName", means: host},
	{path: "$.node.kubelet.nodeIPs", means: address},
	{path: "$.node.kubelet.labels", means: word, class: Refresh, reason: "a kubelet sets its labels when it registers; the autoscaler syncs those of a running node"},
	{path: "$.node.kubelet.machineLabels", means: word},
	{path: "$.node.kubelet.taints", means: word, class: Refresh, reason: "a kubelet sets its taints when it registers; the autoscaler syncs those of a running node"},
	// Package kubeletapi knows which of these fields are durations. The standards are the kubelet's defaults of the fields that a class can
	// set (Kubernetes: pkg/kubelet/apis/config/v1beta1/defaults.go).
	{path: "$.node.kubelet.config", means: word},
	{path: "$.node.kubelet.config.allowedUnsafeSysctls", set: true},
	{path: "$.node.kubelet.config.clusterDNS", means: address},
	{path: "$.node.kubelet.config.clusterDomain", means: host},
	{path: "$.node.kubelet.config.containerLogMaxFiles", standard: "5"},
	{path: "$.node.kubelet.config.containerLogMaxSize", means: amount, standard: "10Mi"},
	{path: "$.node.kubelet.config.cpuCFSQuota", standard: "true"},
	{path: "$.node.kubelet.config.cpuCFSQuotaPeriod", standard: "100ms"},
	{path: "$.node.kubelet.config.cpuManagerPolicy", standard: "none"},
	{path: "$.node.kubelet.config.enforceNodeAllocatable", set: true},
	{path: "$.node.kubelet.config.evictionHard", means: amount},
	{path: "$.node.kubelet.config.evictionMinimumReclaim", means: amount},
	{path: "$.node.kubelet.config.evictionSoft", means: amount},
	{path: "$.node.kubelet.config.evictionSoftGracePeriod", means: span},
	{path: "$.node.kubelet.config.failSwapOn", standard: "true"},
	{path: "$.node.kubelet.config.kubeReserved", means: amount},
	{path: "$.node.kubelet.config.reservedMemory", means: amount},
	{path: "$.node.kubelet.config.systemReserved", means: amount},
	{path: "$.node.kubelet.config.tlsCipherSuites", set: true},
	{path: "$.node.kubelet.config.topologyManagerPolicy", standard: "none"},
	{path: "$.node.kubelet.flags", means: verbatim},
	{path: "$.node.kubelet.maxPodsExpression", means: verbatim},
	{path: "$.node.kubelet.imageCredentialProvider", means: verbatim},
	{path: "$.node.kubelet.dataDisk", means: word, class: Replace, reason: "the kubelet's data is not moved"},
	{path: "$.node.kubelet.capacity", means: word},

	{path: "$.node.runtime", means: word},
	{path: "$.node.runtime.sandboxes", set: true},
	{path: "$.node.runtime.registries", means: verbatim},
	{path: "$.node.runtime.containerd.dataDir", class: Replace, reason: "the runtime's data is not moved"},
	{path: "$.node.runtime.containerd.baseRuntimeSpec", means: verbatim},

	{path: "$.node.network", means: word},
	{path: "$.node.network.plugin", class: Replace, reason: "pods keep the network that they were started with"},
	{path: "$.node.network.nameservers", means: address},
	{path: "$.node.network.searchDomains", means: host},
	{path: "$.node.network.localDNS.hosts.names", means: host, set: true},

	{path: "$.node.system", means: word},
	{path: "$.node.system.sysctls", means: verbatim},
	{path: "$.node.system.modules", set: true},
	{path: "$.node.system.localStorage", class: Replace, reason: "the disks are arranged once"},
	{path: "$.node.system.localStorage.disabledMounts", set: true},
	{path: "$.node.system.gpu", class: Replace, reason: "the driver is installed once"},

	{path: "$.node.trust.certificates", means: certificates, set: true},
	{path: "$.node.proxy.noProxy", means: host, set: true},
	{path: "$.node.proxy.certificateAuthority", means: certificates},
	{path: "$.node.access", means: word},
	{path: "$.node.access.messageOfTheDay", means: verbatim},

	{path: "$.node.cloud", means: word},
	{path: "$.node.cloud.instanceType", means: cloudName, class: Replace, reason: "a machine keeps its size"},
	{path: "$.node.cloud.azure", means: cloudName},
	{path: "$.node.cloud.azure.tenantID", means: guid},
	{path: "$.node.cloud.azure.subscriptionID", means: guid},
	{path: "$.node.cloud.azure.location", means: location},
	{path: "$.node.cloud.azure.identity", means: guid},
	{path: "$.node.cloud.azure.custom", means: verbatim},
	{path: "$.node.cloud.azure.custom.registryDNSSuffix", means: host},

	{path: "$.node.checks", means: word},
	{path: "$.node.checks.outbound", means: server},
	{path: "$.node.checks.outboundCommand", means: script},
	{path: "$.node.checks.allowUnapplied", set: true},
	{path: "$.node.checks.allowAdditions", set: true},
	{path: "$.node.components", means: verbatim},
	{path: "$.node.components.layout", class: Replace, reason: "a node keeps its layout"},
	{path: "$.node.files", means: verbatim},
	{path: "$.node.units", means: script},
	{path: "$.node.units.name", means: word},
	{path: "$.node.units.state", means: word},
	{path: "$.node.units.dropIns.name", means: word},
	{path: "$.node.commands", means: script},

	{path: "$.machine", class: Replace, reason: "a machine is made with it"},
	{path: "$.machine.type", means: word, class: Ignore, reason: "it is what is known of the instance type; the type itself is compared by its name"},
	{path: "$.machine.type.name", means: cloudName, class: Replace, reason: "a machine keeps its size"},
	{path: "$.machine.zone", means: word},
	{path: "$.machine.capacityType", means: word},
	{path: "$.machine.maxPods", class: Ignore, reason: "the kubelet's own number, and the addresses, follow from it and are compared"},
	{path: "$.machine.image", means: word},
	{path: "$.machine.image.wanted", class: Ignore, reason: "the family that was chosen for it is compared"},
	{path: "$.machine.image.fips", standard: "false"},
	{path: "$.machine.image.id", means: cloudID},
	{path: "$.machine.disk.placement", means: word},
	{path: "$.machine.disk.encryptionSet", means: cloudID},
	{path: "$.machine.network", means: word},
	{path: "$.machine.network.subnet", means: cloudID},
	{path: "$.machine.network.id", means: guid},
	{path: "$.machine.network.clusterID", class: Ignore, reason: "the names that have it are compared"},
	{path: "$.machine.network.dns", means: address, class: Ignore, reason: "the kubelet's and the node's own addresses of it are compared"},
	{path: "$.machine.network.securityGroup", means: cloudName},
	{path: "$.machine.network.accelerated", standard: "false"},
	{path: "$.machine.security.encryptionAtHost", standard: "false"},
	{path: "$.machine.security.secureBoot", standard: "false"},
	{path: "$.machine.security.vtpm", standard: "false"},
	{path: "$.machine.ultraSSD", standard: "false"},
	{path: "$.machine.adminUser", means: word, class: Refresh, reason: "who may log in is set when a machine is made"},
	{path: "$.machine.sshPublicKey", means: verbatim, class: Refresh, reason: "who may log in is set when a machine is made"},
	{path: "$.machine.userData", means: script, reason: "a machine runs it when it boots for the first time"},
	{path: "$.machine.identities", means: cloudID, set: true, class: InPlace, reason: "the cloud changes them on a machine that runs"},
	{path: "$.machine.gpuDriver", means: word, class: Ignore, reason: "the driver that is installed for it is compared"},
	{path: "$.machine.gpuDriverVersion", means: word},
	{path: "$.machine.streaming", standard: "false", class: Ignore, reason: "the runtime's own setting is compared"},
	{path: "$.machine.driftOnRelease", means: word, set: true, class: Ignore, reason: "it says what is compared"},
	{path: "$.machine.memoryOverhead", class: Ignore, reason: "a scheduler needs it, and it changes no node"},
	{path: "$.machine.capacity", means: amount, class: Ignore, reason: "a scheduler needs it, and it changes no node"},
	{path: "$.machine.allocatable", means: amount, class: Ignore, reason: "a scheduler needs it; what the kubelet keeps back is compared"},
	{path: "$.machine.tags", means: verbatim, class: InPlace, reason: "the cloud changes them on a machine that runs"},
}

// choice is a part of a node that a release of Slipway chooses. Compare ignores it in a node of another release, unless the owner names
// it in driftOnRelease.
type choice struct {
	name  string
	paths []string
}

// choices are the parts that an owner can name, sorted by name.
var choices = []choice{
	{"gpuDriver", []string{"$.machine.gpuDriverVersion", "$.node.system.gpu", "$.node.components.scriptVariables"}},
	{"image", []string{"$.machine.image"}},
	{"kubelet", []string{"$.node.kubelet.config", "$.node.kubelet.flags", "$.node.kubelet.imageCredentialProvider"}},
	{"runtime", []string{"$.node.runtime"}},
	{"sandboxImage", []string{"$.node.runtime.sandboxImage"}},
	{"system", []string{"$.node.system"}},
}

// ReleaseChoices are the parts of a node that an owner can name in driftOnRelease, sorted.
func ReleaseChoices() []string {
	names := make([]string, len(choices))
	for i := range choices {
		names[i] = choices[i].name
	}
	return names
}
