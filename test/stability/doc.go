// Package stability compares what users rely on with the record of the last release: the Go API, the schemas of documents, commands,
// exit codes, paths, results and metrics. A change that breaks a user must be named in CHANGELOG.md. docs/stability.md says what is stable.
//
// The record of a release is in testdata/records. It also has fixtures: documents and a node that this release has written. The tests
// read those of every release.
//
// It is a separate module, because golang.org/x/exp would otherwise be in the module graph of each program that imports Slipway.
package stability
