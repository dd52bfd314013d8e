// Package azure has Azure's decisions for package launch: which image, which network names, labels, tags, flags and disk a node
// of AKS, or of a cluster of one's own, gets, each decision in one file with a table and the table's source.
//
// Its inputs are an [Input]: [Settings], an AKSNodeClass, an instance type, the images of the region and what was detected of
// the cluster. It reads them from the real APIs' JSON, and checks them as the API server would. Package launch and the command
// line call it. It is pure, like package launch: it asks no cloud, and refuses to guess what an instance type can do.
package azure
