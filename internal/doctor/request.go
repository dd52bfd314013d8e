package doctor

// requestChecks are those of the certificate request.
var requestChecks = []Check{}
