package plan

import (
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/resource"
)

// When a kubelet is seen to have taken its settings. One that has not ends in a fraction of a second, and in
// several on a machine that is slow or has little processor to spare; one that has says so sooner than that. Only
// one that cannot be asked is waited for to the end.
const (
	kubeletStarted  = resource.Duration(60 * time.Second)
	kubeletUnasked  = resource.Duration(15 * time.Second)
	kubeletPatience = resource.Duration(180 * time.Second)
	kubeletRestarts = 2
)

// kubeletStart plans the kubelet's start: after everything it needs, and seen to run.
var kubeletStart = concern{
	name:  "kubelet start",
	joins: true,
	reads: []string{"$.commands", "$.kubelet.config", "$.kubelet.flags"},
	plan:  planKubeletStart,
}

func planKubeletStart(in *input, out *output) {
	out.join("", &resource.Check{Label: "kubelet-binary", PathExists: in.kubeletProgram()}, exitcode.KubeletInstallFailed,
		"systemd would skip a unit without its binary, without an error")
	requires := []resource.ID{
		resource.IDOf(&resource.Unit{Unit: containerdUnit}),
		resource.IDOf(&resource.Unit{Unit: in.family.Kubelet.Prepare}),
		resource.IDOf(&resource.Check{Label: "kubelet-binary"}),
		kernelGroup.all(),
		kubeletGroup.all(),
		outboundGroup.all(),
	}
	start := resource.Resource{
		Phase:    resource.Join,
		ExitCode: exitcode.KubeletStartFailed,
		Reason:   "the node joins",
		Spec:     &resource.Unit{Unit: kubeletUnit},
	}
	if in.starter < 0 {
		// Not in the base phase: a baked image would start a kubelet that has no cluster yet.
		out.enable(resource.Join, kubeletUnit)
	} else {
		start = shellCommand(in.config.Commands, in.starter)
		start.Reason = "a command of the contract's author starts the kubelet, in the place of Slipway"
	}
	start.Requires, start.After = append(start.Requires, requires...), []resource.ID{firstGroup.all()}
	out.addTo(startGroup, start)
	// A kubelet answers before it has joined, and where it cannot: it is asked so by kubeadm too (kubelet-check).
	well, steady := kubeletHealthz(in.config.Kubelet), kubeletStarted
	if well == nil {
		steady = kubeletUnasked
	}
	out.add(resource.Resource{
		Phase:    resource.Join,
		Requires: []resource.ID{startGroup.all(), joinedGroup.all()},
		ExitCode: exitcode.KubeletStartFailed,
		Reason:   "the kubelet accepts its settings and keeps running",
		Spec: &resource.Check{
			Label: kubeletActive, Timeout: kubeletPatience, UnitActive: kubeletUnit, Foreign: in.starter >= 0, Steady: steady, Restarts: kubeletRestarts,
			Well: well,
		},
	})
}
