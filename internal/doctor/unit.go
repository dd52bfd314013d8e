package doctor

// unitChecks are those of systemd's units.
var unitChecks = []Check{}
