// Package cases provisions directories from contracts and compares whole trees.
//
// A case is a folder. case.json selects contract and facts. want.tree has every file, directory and link afterwards with mode and
// content. want.actions has the changes of units and the kernel that would have been made. want.status.json is the status. To add a
// case, add a folder with a case.json and run `make golden`. Beside the cases, testdata has tables of a node's settings for each
// network and version.
package cases
