// Package cases provisions directories from contracts and compares whole trees.
//
// A case is a folder: case.json says which contract and facts, want.tree is every file, directory and
// link afterwards with mode and content, want.actions is what would have been done to units and the
// kernel, want.status.json is the status. Adding a case is adding a folder with a case.json and running
// `make golden`. Beside the cases are tables of what a node has on each network, in each version: testdata.
package cases
