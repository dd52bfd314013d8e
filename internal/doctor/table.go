package doctor

import "slices"

// Checks is the table, in the order in which causes come before what can follow from them.
var Checks = slices.Concat(
	// The machine itself.
	clockChecks,
	diskChecks,
	kernelChecks,
	unitChecks,
	componentChecks,
	provisioningChecks,
	// What surrounds it.
	linkChecks,
	nameChecks,
	proxyChecks,
	metadataChecks,
	registryChecks,
	// What runs on it.
	runtimeChecks,
	kubeletChecks,
	// Its cluster.
	apiServerChecks,
	credentialChecks,
	requestChecks,
	nodeChecks,
	networkPluginChecks,
	clusterDNSChecks,
)
