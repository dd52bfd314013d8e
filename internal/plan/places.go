package plan

import (
	"maps"
	"slices"
)

// KubeletUnit is the unit that makes a machine a node; ContainerdUnit is the one that its pods run under.
const (
	KubeletUnit    = kubeletUnit
	ContainerdUnit = containerdUnit
)

// ContainerdConfig is where containerd's configuration is, in every layout.
const ContainerdConfig = "/etc/containerd/config.toml"

// Where networks of pods are configured, in every layout.
const (
	NetworkDir      = cniConfDir
	NetworkTemplate = kubenetTemplate
)

// Places are where one layout has the files that a node is what it is by. Whoever has only a plan knows
// its files by them.
type Places struct {
	// Layout names the layout.
	Layout string
	// KubeletBinary, KubeletConfig and KubeletEnv are the kubelet's binary, its configuration file and
	// the environment file with its flags.
	KubeletBinary, KubeletConfig, KubeletEnv string
	// Kubeconfig is the kubelet's credential, BootstrapConfig the one that it gets it with.
	Kubeconfig, BootstrapConfig string
	// Authority holds the certificates that the API server is verified with.
	Authority string
}

// AllPlaces returns the places of every layout, sorted by the layouts' names.
func AllPlaces() []Places {
	var all []Places
	for _, name := range slices.Sorted(maps.Keys(layouts)) {
		l := layouts[name]
		all = append(all, Places{name, l.kubelet, l.kubeletConfig, l.kubeletEnv, l.kubeconfig, l.bootstrapConfig, l.ca})
	}
	return all
}
