// Package docs runs the commands in the documents. Every command in README.md, CONTRIBUTING.md,
// docs or a program's --help runs in a separate directory, or is in a table of commands that a test
// cannot run, with the reason. Contracts are validated, Go programs are built and run, and links
// are checked.
//
// The package has only tests.
package docs
