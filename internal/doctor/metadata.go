package doctor

// metadataChecks are those of the metadata service.
var metadataChecks = []Check{}
