// Package examples holds complete contracts, one of each dialect, for what explains or documents a field
// and has no contract to do it with.
//
// The package is data: it decodes nothing. The other files of the directory are for people and for tests.
// internal/explain calls it, and the test that writes docs/fields.md.
package examples

import (
	_ "embed"
)

var (
	//go:embed native/minimal.yaml
	native []byte
	//go:embed aks/kubelet-config-file.json
	aks []byte
	//go:embed eksctl/minimal.yaml
	eksctl []byte
	//go:embed kubeadm/join-configuration.yaml
	kubeadm []byte
)

// Contract returns the contract of a dialect, "native", "aks", "eksctl" or "kubeadm"; nil for any other. It sets little, so that
// what a field decides shows, and AKS's has the kubelet's configuration file switched on. The caller must
// not change it.
func Contract(dialect string) []byte {
	switch dialect {
	case "native":
		return native
	case "aks":
		return aks
	case "eksctl":
		return eksctl
	case "kubeadm":
		return kubeadm
	}
	return nil
}
