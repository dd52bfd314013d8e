package doctor

// clusterDNSChecks are those of the cluster's DNS.
var clusterDNSChecks = []Check{}
