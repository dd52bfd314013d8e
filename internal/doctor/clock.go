package doctor

// clockChecks are those of the clock.
var clockChecks = []Check{}
