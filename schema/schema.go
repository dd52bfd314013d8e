// Package schema contains the JSON Schemas of the contracts, for editors, for CI and for programs that write contracts.
//
// The schemas are generated from the types that the decoders fill: the native one from the Go types of package nodeconfig, AKS's
// from its .proto files, and the others from the Go types of their packages below nodeconfig, with their comments as descriptions.
// The one of kubeadm describes a JoinConfiguration and a kubeconfig; a command line has none. The schemas accept the types that the
// decoders accept: null for every value that may be omitted, and an integer as a number or as a string. They know a value's type
// and enumeration; "slipway validate" checks the rest. A native document may have no unknown field, because a person writes it and
// an editor should show a typo at once. Other documents may, because newer producers know more fields, and most of a ClusterConfig
// is not about nodes.
// Secrets are marked with writeOnly. Data that passes through has no schema; nodeconfig.SecretPlaces has the paths in it that may
// contain a credential.
//
// Besides, there are the schemas of a boot's timeline, which "slipway anatomy -o json" prints, and of the two documents of a node
// image, components.yaml and its lock. The latter are generated from the types of internal/image.
//
// The package is data. The command line prints it (slipway schema) and uses it to explain fields.
package schema

import "embed"

//go:generate go run ./gen

//go:embed *.json
var files embed.FS

// The names of the schemas that are not a dialect's: a boot's timeline, and what people and "slipway image lock" write about a node
// image.
const (
	Timeline        = "timeline"
	ImageComponents = "image-components"
	ImageLock       = "image-lock"
)

// Get returns the schema of a dialect's documents by the dialect's name, or another schema by its name, and reports whether there is one. The caller may change
// it.
func Get(dialect string) ([]byte, bool) {
	data, err := files.ReadFile(dialect + ".json")
	return data, err == nil
}
