package doctor

// proxyChecks are those of the proxy.
var proxyChecks = []Check{}
