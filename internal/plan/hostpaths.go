package plan

import (
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
)

const (
	containerdSocket  = "unix:///run/containerd/containerd.sock"
	containerdDropIns = resource.UnitDir + "/" + containerdUnit + ".d/"
)

const kubeletDropIns = resource.UnitDir + "/" + kubeletUnit + ".d/"

// The units of a node.
const (
	containerdUnit = profile.ContainerdUnit
	kubeletUnit    = profile.KubeletUnit
)

// RegistriesDir is where containerd looks for the settings of registries.
const RegistriesDir = "/etc/containerd/certs.d"

const (
	cniBinDir       = facts.CNIBinDir
	cniConfDir      = "/etc/cni/net.d"
	kubenetTemplate = "/etc/containerd/kubenet_template.conf"
)

// proxyEnv has the variables for containerd and the kubelet. They are in a file that only root reads where they have a
// password, because systemd shows what a unit has in Environment= to everybody (systemd.exec(5), "Environment").
const proxyEnv = "/etc/slipway/proxy.env"

// environmentDir has a file for each service.
const environmentDir = "/etc/slipway/environment/"

// managerDir is where systemd itself is configured. It is read again with the units (systemd: src/core/main.c, do_reload).
const managerDir = "/etc/systemd/system.conf.d/"

// ContainerdConfig is where containerd's configuration is, in every family.
const ContainerdConfig = "/etc/containerd/config.toml"
