// Package crosscheck compares this module's reading of user data with cloud-init's, whose format it is. Its test makes documents
// from a grammar, gives each to both, and compares the resulting files.
//
// What "agree" means. cloud-init writes files; only those at a contract's paths count. Either both produce the same bytes, or both
// refuse: cloud-init cannot load the document or its module fails at an entry for such a path, and envelope.Open returns one
// of its error types. Each other result is in a table of differences, with its reason, or fails the test. A row of the table that
// never applies fails the test, too.
//
// cloud-init runs in a separate process of Debian's python3; none of its code is here. The test needs the build tag crosscheck;
// `make crosscheck` runs it. No package imports this one.
package crosscheck
