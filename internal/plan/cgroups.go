package plan

import (
	"fmt"
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
	version, assumed := in.cgroupVersion()
	if version != 1 {
		return
	}
	k := in.config.Kubelet
	said := kubeletSetting(k, failCgroupFlag, failCgroupField, "")
	fails, err := strconv.ParseBool(said)
	has := "which this machine has"
	if assumed {
		has = "with which " + systemName(in) + " starts, and no fact says which version the machine has"
	}
	switch {
	case said == "" && in.reached(cgroupV2Needed):
		out.Add(nodeconfig.Problem{
			Kind: nodeconfig.Invalid, Path: VersionPath, Fatal: !assumed,
			Reason: fmt.Sprintf("this kubelet does not start with control groups of version 1, %s; use an image with version 2, or set the kubelet's %s (--%s) to false", has, failCgroupField, failCgroupFlag),
		})
	case err == nil && fails && !assumed:
		out.Fatal(nodeconfig.Invalid, settingPath(k, failCgroupFlag, failCgroupField), "needs control groups of version 2, and this machine has version 1")
	}
}

// cgroupVersion is the version of the machine's control groups, 0 if it is not known; assumed says that no fact has it, and that it
// is the one with which the distribution's release starts.
func (in *input) cgroupVersion() (version int, assumed bool) {
	if in.facts.CgroupVersion != 0 {
		return in.facts.CgroupVersion, false
	}
	return in.distro.CgroupVersion(in.facts.OS.VersionID), true
}
