package doctor

// credentialChecks are those of the kubelet's credential.
var credentialChecks = []Check{}
