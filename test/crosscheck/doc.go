// Package crosscheck holds this module's reading of user data against the program whose user data it is:
// cloud-init. Its test makes documents by a grammar, gives each to both, and compares what file comes of it.
//
// What "agree" means. cloud-init writes files; of those only the ones at a contract's places count. Either the
// same bytes come out of both, or both refuse: cloud-init where it cannot load the document or its module
// fails at an entry for such a place, envelope.Open by an error of its types. Each other outcome is in a table
// of differences, with its reason, or fails the test. So does a row of the table that nothing ever falls into.
//
// cloud-init is called, in a process of Debian's python3; nothing of it is here. The test needs the build tag
// crosscheck; `make crosscheck` runs it. Nobody imports the package.
package crosscheck
