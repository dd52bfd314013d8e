package doctor

// linkChecks are those of routes and links.
var linkChecks = []Check{}
