package doctor

// networkPluginChecks are those of the network plug-in.
var networkPluginChecks = []Check{}
