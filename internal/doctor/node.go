package doctor

// nodeChecks are those of the Node.
var nodeChecks = []Check{}
