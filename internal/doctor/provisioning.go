package doctor

// provisioningChecks are those of the provisioning.
var provisioningChecks = []Check{}
