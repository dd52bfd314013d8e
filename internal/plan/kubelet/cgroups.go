package kubelet

import (
	"fmt"
	"strconv"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// cgroups refuses a machine whose control groups the kubelet does not start with.
var cgroups = concern.Concern{
	Name:  "control groups",
	Joins: true,
	Reads: []string{"$.kubelet.config", "$.kubelet.flags"},
	Plan:  planCgroups,
}

// The setting that decides whether the kubelet exits on a machine with control groups of version 1.
const failCgroupFlag, failCgroupField = "fail-cgroupv1", "failCgroupV1"

func planCgroups(in *concern.Input, out *concern.Output) {
	version, assumed := in.CgroupVersion()
	if version != 1 {
		return
	}
	k := in.Config.Kubelet
	said := kubeletsetting.Value(k, failCgroupFlag, failCgroupField, "")
	fails, err := strconv.ParseBool(said)
	has := "which this machine has"
	if assumed {
		has = "with which " + concern.SystemName(in) + " starts, and no fact says which version the machine has"
	}
	switch {
	case said == "" && in.Reached(concern.CgroupV2Needed):
		out.Add(nodeconfig.Problem{
			Kind: nodeconfig.Invalid, Path: setting.KubernetesVersion, Fatal: !assumed,
			Reason: fmt.Sprintf("this kubelet does not start with control groups of version 1, %s; use an image with version 2, or set the kubelet's %s (--%s) to false", has, failCgroupField, failCgroupFlag),
		})
	case err == nil && fails && !assumed:
		out.Fatal(nodeconfig.Invalid, kubeletsetting.Path(k, failCgroupFlag, failCgroupField), "needs control groups of version 2, and this machine has version 1")
	}
}
