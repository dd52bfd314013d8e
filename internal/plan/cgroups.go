package plan

import (
	"strconv"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// cgroups refuses a machine whose control groups the kubelet does not start with.
var cgroups = concern{
	name:  "control groups",
	joins: true,
	reads: []string{"$.kubelet.config", "$.kubelet.flags"},
	plan:  planCgroups,
}

// The setting that says whether the kubelet ends on a machine with control groups of version 1.
const failCgroupFlag, failCgroupField = "fail-cgroupv1", "failCgroupV1"

func planCgroups(in *input, out *output) {
	if in.facts.CgroupVersion != 1 {
		return
	}
	k := in.config.Kubelet
	said := kubeletSetting(k, failCgroupFlag, failCgroupField, "")
	fails, err := strconv.ParseBool(said)
	switch {
	case said == "" && in.reached(cgroupV2Needed):
		out.fatal(nodeconfig.Invalid, VersionPath, "this kubelet does not start with control groups of version 1, which this machine has; "+
			"use an image with version 2, or set the kubelet's %s (--%s) to false", failCgroupField, failCgroupFlag)
	case err == nil && fails:
		out.fatal(nodeconfig.Invalid, settingPath(k, failCgroupFlag, failCgroupField), "needs control groups of version 2, and this machine has version 1")
	}
}
