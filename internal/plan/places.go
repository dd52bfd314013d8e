package plan

import "github.com/slipway-dev/slipway/internal/profile"

// KubeletUnit is the unit that makes a machine a node; ContainerdUnit is the one that its pods run under.
const (
	KubeletUnit    = kubeletUnit
	ContainerdUnit = containerdUnit
)

// ContainerdConfig is where containerd's configuration is, in every family.
const ContainerdConfig = "/etc/containerd/config.toml"

// Where networks of pods are configured, in every family.
const (
	NetworkDir      = cniConfDir
	NetworkTemplate = kubenetTemplate
)

// Places are where one family of nodes has the files that a node is what it is by. Whoever has only a plan knows
// its files by them.
type Places struct {
	// Family names the family.
	Family string
	// KubeletBinary, KubeletConfig and KubeletEnv are the kubelet's binary, its configuration file and
	// the environment file with its flags.
	KubeletBinary, KubeletConfig, KubeletEnv string
	// Kubeconfig is the kubelet's credential, BootstrapConfig the one that it gets it with.
	Kubeconfig, BootstrapConfig string
	// Authority holds the certificates that the API server is verified with.
	Authority string
}

// AllPlaces returns the places of every family.
func AllPlaces() []Places {
	var all []Places
	for _, family := range profile.All() {
		p := &family.Paths
		all = append(all, Places{family.Name, p.Kubelet, p.KubeletConfig, p.KubeletEnv, p.Kubeconfig, p.BootstrapConfig, p.CA})
	}
	return all
}
