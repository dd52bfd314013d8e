// Package arch has the project's rules as tests: allowed imports, the maximum size of a file or a
// function, forbidden names and words. It has only tests.
package arch
