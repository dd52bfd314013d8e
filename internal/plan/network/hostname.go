package network

import (
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
)

// hostname gives the machine its name in the cloud. If cloud-init runs, cloud-init sets the name instead.
// The Node has the same name unless the contract names it.
var hostname = concern.Concern{
	Name:  "host name",
	Joins: true,
	Plan:  planHostname,
}

func planHostname(in *concern.Input, out *concern.Output) {
	name := in.CloudName()
	if name == "" {
		return
	}
	out.File(resource.Join, "/etc/hostname", 0o644, []byte(name+"\n"), "the machine's name, from its cloud (hostname(5))")
	out.Join(concern.KernelGroup, &resource.Sysctl{Key: "kernel.hostname", Value: name}, exitcode.SysctlFailed, "the kubelet reads the name when it starts")
	out.Belong(concern.HostNameGroup)
}
