package doctor

// componentChecks are those of installed programs.
var componentChecks = []Check{}
