package doctor

// diskChecks are those of disks and file systems.
var diskChecks = []Check{}
