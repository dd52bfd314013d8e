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

// The container runtime's paths that other programs use, in every family.
const (
	ContainerdSocket = "unix:///run/containerd/containerd.sock"
	ContainerdConfig = "/etc/containerd/config.toml"
	// RegistriesDir is where containerd looks for the settings of registries.
	RegistriesDir = "/etc/containerd/certs.d"
	// CNIBinDir has network plug-ins. CNIConfDir has their configuration; for kubenet, containerd makes it from KubenetFile.
	CNIBinDir   = facts.CNIBinDir
	CNIConfDir  = "/etc/cni/net.d"
	KubenetFile = "/etc/containerd/kubenet_template.conf"
)

// What systemd gives to services.
const (
	// ProxyEnv has the variables for containerd and the kubelet. If they contain a password, only root can read the file. They are not in
	// Environment=, because systemd shows that to every user (systemd.exec(5), "Environment").
	ProxyEnv = "/etc/slipway/proxy.env"
	// EnvironmentDir has a file for each service.
	EnvironmentDir = "/etc/slipway/environment/"
	// managerDir is where systemd itself is configured. It is read again with the units (systemd: src/core/main.c, do_reload).
	managerDir = "/etc/systemd/system.conf.d/"
)
