package kubelet

import (
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
)

// freeName checks, before the kubelet starts for the first time, that no other machine has the Node's name: two kubelets of one Node
// would take each other's pods away.
var freeName = concern.Concern{
	Name:  "free name of the Node",
	Joins: true,
	Reads: []string{"$.cluster.certificateAuthority", setting.AuthorityHashes, setting.Kubeadm, "$.cluster.server", setting.SkipVerification, "$.kubelet.flags", "$.kubelet.nodeName"},
	Plan:  planFreeName,
}

// freeNamePatience is longer than a Node stays Ready whose machine is gone (kube-controller-manager:
// --node-monitor-grace-period, 50 s since 1.32), so that a machine can take the place of another.
const freeNamePatience = resource.Duration(75 * time.Second)

func planFreeName(in *concern.Input, out *concern.Output) {
	if !checksName(in) {
		return
	}
	check := &resource.Check{
		Label:    "node-name",
		Timeout:  freeNamePatience,
		Holds:    concern.KubeletUnit,
		FreeName: &resource.FreeName{AsNode: *concern.AsNode(in.Config), Node: kubeletsetting.NodeName(in.Config.Kubelet)},
	}
	if in.Certificate != "" {
		check.Unless = in.Family.Paths.Kubeconfig // a node that has joined has its name
	}
	out.AppendTo(concern.KubeletGroup, resource.Resource{
		Phase:    resource.Join,
		After:    []resource.ID{concern.NamedGroup.All()},
		ExitCode: exitcode.NodeNameTaken,
		Reason:   "no other machine that is Ready has the Node's name (kubeadm: cmd/phases/join/kubelet.go)",
		Spec:     check,
	})
}
