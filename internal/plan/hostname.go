package plan

import (
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/resource"
)

// hostname gives the machine the name that its cloud has for it, where nobody else does: cloud-init sets it
// where it runs. The Node is named after it unless the contract says otherwise.
var hostname = concern{
	name:  "host name",
	joins: true,
	plan:  planHostname,
}

func planHostname(in *input, out *output) {
	name := in.cloudName()
	if name == "" {
		return
	}
	out.file(resource.Join, "/etc/hostname", 0o644, []byte(name+"\n"), "the machine's name, from its cloud (hostname(5))")
	out.join(kernelGroup, &resource.Sysctl{Key: "kernel.hostname", Value: name}, exitcode.SysctlFailed, "the kubelet reads the name when it starts")
	out.belong(hostNameGroup)
}
