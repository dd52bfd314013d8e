package doctor

// registryChecks are those of image registries.
var registryChecks = []Check{}
