package doctor

import "slices"

// Checks is the table, in the order in which causes come before what can follow from them.
var Checks = slices.Concat(
	group("The machine", clockChecks, diskChecks, kernelChecks, unitChecks, componentChecks),
	group("What surrounds it", linkChecks, nameChecks, proxyChecks, metadataChecks, registryChecks),
	group("What runs on it", runtimeChecks, kubeletChecks),
	group("Its cluster", apiServerChecks, credentialChecks, requestChecks, nodeChecks, networkPluginChecks, clusterDNSChecks),
	group("How it was made", provisioningChecks),
)

// group puts checks under a title.
func group(title string, lists ...[]Check) []Check {
	checks := slices.Concat(lists...)
	for i := range checks {
		checks[i].Group = title
	}
	return checks
}
