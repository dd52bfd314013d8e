package plan

import (
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/resource"
)

// freeName checks, before the kubelet starts for the first time, that no other machine has the Node's name: two kubelets of one Node
// would take each other's pods away.
var freeName = concern{
	name:  "free name of the Node",
	joins: true,
	reads: []string{"$.cluster.certificateAuthority", pinsPath, kubeadmPath, "$.cluster.server", skipPath, "$.kubelet.flags", "$.kubelet.nodeName"},
	plan:  planFreeName,
}

// freeNamePatience is longer than a Node stays Ready whose machine is gone (kube-controller-manager:
// --node-monitor-grace-period, 50 s since 1.32), so that a machine can take the place of another.
const freeNamePatience = resource.Duration(75 * time.Second)

func planFreeName(in *input, out *output) {
	if !in.checksName() {
		return
	}
	check := &resource.Check{
		Label:    "node-name",
		Timeout:  freeNamePatience,
		Holds:    kubeletUnit,
		FreeName: &resource.FreeName{AsNode: *asNode(in.config), Node: nodeName(in.config.Kubelet)},
	}
	if in.certificate != "" {
		check.Unless = in.family.Paths.Kubeconfig // a node that has joined has its name
	}
	out.addTo(kubeletGroup, resource.Resource{
		Phase:    resource.Join,
		After:    []resource.ID{namedGroup.all()},
		ExitCode: exitcode.NodeNameTaken,
		Reason:   "no other machine that is Ready has the Node's name (kubeadm: cmd/phases/join/kubelet.go)",
		Spec:     check,
	})
}
