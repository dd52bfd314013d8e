package network

import (
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
)

// foreign has the host's network services leave alone what a network plug-in adds for pods. systemd-networkd would remove the plug-in's
// routes and rules when it is started again, as an update does, and udev would give the host's end of a pod's interface another address
// than the plug-in has written into the pod's neighbour table (Amazon EKS AMI: al2023, install-worker.sh; aws/amazon-vpc-cni-k8s#2103).
var foreign = concern.Concern{
	Name: "foreign interfaces",
	Plan: planForeign,
}

const (
	// foreignConfig is a drop-in of systemd-networkd (networkd.conf(5)), and linkConfig one of the links for which no other file of
	// udev's is meant (systemd.link(5)).
	foreignConfig = "/etc/systemd/networkd.conf.d/80-slipway-foreign.conf"
	linkConfig    = "/etc/systemd/network/99-default.link.d/80-slipway.conf"
)

func planForeign(in *concern.Input, out *concern.Output) {
	if !in.Family.Host.ForeignInterfaces || in.Distro.Network.Metric == 0 { // which it has where systemd-networkd runs
		return
	}
	// A restart of systemd-networkd takes the machine's addresses away. It reads this file when it is started again, which is when it
	// would do harm.
	out.File(resource.Base, foreignConfig, 0o644, unitfile.File(unitfile.Section("Network"), unitfile.Set("ManageForeignRoutes", "no"), unitfile.Set("ManageForeignRoutingPolicyRules", "no")),
		"systemd-networkd keeps the routes and rules of the network plug-in (Amazon EKS AMI: 80-release.conf)")
	out.File(resource.Base, linkConfig, 0o644, unitfile.File(unitfile.Section("Link"), unitfile.Set("MACAddressPolicy", "none")),
		"the interfaces of pods keep the hardware addresses that the network plug-in has seen (Amazon EKS AMI: 99-default.link)")
}
