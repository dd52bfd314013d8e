package doctor

// nameChecks are those of the resolution of names.
var nameChecks = []Check{}
