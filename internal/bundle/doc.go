// Package bundle is a rendered node as a directory: its tree, a manifest of the tree, and the renderings that make a machine
// from it. It writes such a directory, reads it, and compares a tree with it.
//
// It changes no machine, follows no link out of a tree, and shows no content of a file. The command line uses it.
package bundle
