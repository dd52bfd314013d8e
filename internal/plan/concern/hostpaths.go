package concern

import (
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
)

// The units of a node, and where their drop-ins are.
const (
	ContainerdUnit    = profile.ContainerdUnit
	ContainerdDropIns = resource.UnitDir + "/" + ContainerdUnit + ".d/"
	KubeletUnit       = profile.KubeletUnit
	KubeletDropIns    = resource.UnitDir + "/" + KubeletUnit + ".d/"
)

// Where the container runtime has what others use, in every family.
const (
	ContainerdSocket = "unix:///run/containerd/containerd.sock"
	ContainerdConfig = "/etc/containerd/config.toml"
	// RegistriesDir is where containerd looks for the settings of registries.
	RegistriesDir = "/etc/containerd/certs.d"
	// CNIBinDir has network plug-ins, CNIConfDir their configuration, which containerd makes of KubenetFile for kubenet.
	CNIBinDir   = facts.CNIBinDir
	CNIConfDir  = "/etc/cni/net.d"
	KubenetFile = "/etc/containerd/kubenet_template.conf"
)

// What systemd gives to services.
const (
	// ProxyEnv has the variables for containerd and the kubelet. They are in a file that only root reads where they have a
	// password, because systemd shows what a unit has in Environment= to everybody (systemd.exec(5), "Environment").
	ProxyEnv = "/etc/slipway/proxy.env"
	// EnvironmentDir has a file for each service.
	EnvironmentDir = "/etc/slipway/environment/"
	// managerDir is where systemd itself is configured. It is read again with the units (systemd: src/core/main.c, do_reload).
	managerDir = "/etc/systemd/system.conf.d/"
)
