// Package docs runs what the documents say. Every command that README.md, CONTRIBUTING.md, docs or a
// program's --help shows is run in a directory of its own, or stands in a table of those that a test
// cannot run, with the reason. Contracts are validated, Go programs are built and run, and links lead
// somewhere.
//
// It has no code of its own.
package docs
