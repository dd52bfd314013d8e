package doctor

// runtimeChecks are those of the container runtime.
var runtimeChecks = []Check{}
