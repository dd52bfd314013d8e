// Package examples holds complete contracts, one of each dialect, for what explains or documents a field
// and has no contract to do it with.
//
// The package is data: it decodes nothing. The other files of the directory are for people and for tests.
// internal/explain calls it, and the test that writes docs/fields.md.
package examples

import "embed"

//go:embed native/minimal.yaml
//go:embed aks/kubelet-config-file.json
//go:embed eksctl/minimal.yaml
//go:embed kubeadm/join-configuration.yaml
var contracts embed.FS

// Contract returns the contract of a dialect, such as "native" or "aks"; nil if the dialect has none. It sets little, so that
// what a field decides shows, and AKS's has the kubelet's configuration file switched on. The caller may change it.
func Contract(dialect string) []byte {
	found, err := contracts.ReadDir(dialect)
	if err != nil {
		return nil
	}
	data, _ := contracts.ReadFile(dialect + "/" + found[0].Name())
	return data
}
