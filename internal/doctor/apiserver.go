package doctor

// apiServerChecks are those of the API server.
var apiServerChecks = []Check{}
