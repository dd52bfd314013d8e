package doctor

// kernelChecks are those of the kernel.
var kernelChecks = []Check{}
