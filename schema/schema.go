// Package schema holds the JSON Schemas of the contracts, for editors, for CI and for programs that
// write contracts.
//
// The schemas are generated from what the decoders fill: the native one from the Go types of package nodeconfig, AKS's from its
// .proto files, and the others from the Go types of what their packages below nodeconfig read, with their comments as
// descriptions. The one of kubeadm describes a JoinConfiguration and a kubeconfig; a command line is neither. They accept values of the types that the decoders accept: null wherever a value may be left out, and an
// integer as a number or as a string. Of a value they know the type and the enumeration; whether it
// is a good one, "slipway validate" says. A native document may hold no unknown field, since a person
// writes it and a typo should show at once; others may, since newer producers know more, and most of a ClusterConfig is not
// of a node.
// Secrets are marked with writeOnly. What passes through as data has no schema; nodeconfig.SecretPlaces says where it
// may hold a credential.
//
// The package is data. The command line prints it (slipway schema) and explains fields from it.
package schema

import "embed"

//go:generate go run ./gen

//go:embed *.json
var files embed.FS

// Get returns the schema of a dialect's documents by the dialect's name, and whether there is one. The caller may change it.
func Get(dialect string) ([]byte, bool) {
	data, err := files.ReadFile(dialect + ".json")
	return data, err == nil
}
