package doctor

// Insides are the machine's units, container runtime, kernel and disks.
type Insides interface{}
