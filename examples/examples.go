// Package examples contains complete contracts, one of each dialect, for code that explains or documents a field without a user's
// contract.
//
// The package is data: it decodes nothing. The other files of the directory are for people and for tests. internal/explain calls
// it, and so does the test that writes docs/fields.md.
package examples

import "embed"

//go:embed native/minimal.yaml
//go:embed aks/kubelet-config-file.json
//go:embed eksctl/minimal.yaml
//go:embed kubeadm/join-configuration.yaml
var contracts embed.FS

// Contract returns the contract of a dialect, such as "native" or "aks", or nil. It sets few fields, so that the effect of a single
// field shows. AKS's has the kubelet's configuration file switched on. The caller may change it.
func Contract(dialect string) []byte {
	found, err := contracts.ReadDir(dialect)
	if err != nil {
		return nil
	}
	data, _ := contracts.ReadFile(dialect + "/" + found[0].Name())
	return data
}
