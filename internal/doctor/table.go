package doctor

import "slices"

// Checks is the table, in the order in which causes come before what can follow from them.
var Checks = withLast(provisioningChecks, slices.Concat(
	group("The machine", clockChecks, diskChecks, kernelChecks, unitChecks, componentChecks),
	group("What surrounds it", linkChecks, nameChecks, proxyChecks, metadataChecks, registryChecks, waitingChecks),
	group("Its cluster", apiServerChecks, credentialChecks),
	group("What runs on it", runtimeChecks, kubeletChecks),
	group("Its Node", requestChecks, healthChecks, networkPluginChecks, nodeChecks, clusterDNSChecks),
))

// withLast appends checks that need all before them: they show what no other check explains.
func withLast(last, checks []Check) []Check {
	for _, check := range group("How it was made", last) {
		for _, other := range checks {
			check.Needs = append(check.Needs, other.Name)
		}
		check.last = true
		checks = append(checks, check)
	}
	return checks
}

// group puts checks under a title.
func group(title string, lists ...[]Check) []Check {
	checks := slices.Concat(lists...)
	for i := range checks {
		checks[i].Group = title
	}
	return checks
}
