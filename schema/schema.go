// Package schema holds the JSON Schemas of the contracts, for editors, for CI and for programs that
// write contracts.
//
// The schemas are generated from what the decoders fill: the native one from the Go types of package nodeconfig, AKS's from its
// .proto files, and the others from what packages nodeconfig/eksctl and nodeconfig/kubeadm read, with their comments as
// descriptions. They accept values of the types that the decoders accept: null wherever a value may be left out, and an
// integer as a number or as a string. Of a value they know the type and the enumeration; whether it
// is a good one, "slipway validate" says. A native document may hold no unknown field, since a person
// writes it and a typo should show at once; others may, since newer producers know more, and most of a ClusterConfig is not
// of a node.
// Secrets are marked with writeOnly. What passes through as data has no schema; nodeconfig.SecretPlaces says where it
// may hold a credential.
//
// The package is data. The command line prints it (slipway schema) and explains fields from it.
package schema

import (
	_ "embed"
	"slices"
)

//go:generate go run ./gen

var (
	//go:embed native.json
	native []byte
	//go:embed aks.json
	aks []byte
	//go:embed eksctl.json
	eksctl []byte
	//go:embed kubeadm.json
	kubeadm []byte
)

// The schemas, by the dialect that they describe.
const (
	Native = "native"
	AKS    = "aks"
	EKSCTL = "eksctl"
	// Kubeadm describes a JoinConfiguration and a kubeconfig. A command line is neither.
	Kubeadm = "kubeadm"
)

// Names returns the names of the schemas.
func Names() []string { return []string{Native, AKS, EKSCTL, Kubeadm} }

// Get returns a schema, and whether there is one of that name. The caller may change it.
func Get(name string) ([]byte, bool) {
	switch name {
	case Native:
		return slices.Clone(native), true
	case AKS:
		return slices.Clone(aks), true
	case EKSCTL:
		return slices.Clone(eksctl), true
	case Kubeadm:
		return slices.Clone(kubeadm), true
	}
	return nil, false
}
