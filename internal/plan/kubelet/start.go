package kubelet

import (
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
)

// These limits decide when a kubelet counts as started. A kubelet that rejects its settings exits in a fraction of a second, or
// in several seconds on a slow or busy machine. A kubelet that accepts them reports that sooner. Only a kubelet without a health
// endpoint is watched for the whole time.
const (
	kubeletStarted  = resource.Duration(60 * time.Second)
	kubeletUnasked  = resource.Duration(15 * time.Second)
	kubeletPatience = resource.Duration(180 * time.Second)
	kubeletRestarts = 2
)

// kubeletStart plans the kubelet's start: after everything it needs, and seen to run.
var kubeletStart = concern.Concern{
	Name:  "kubelet start",
	Joins: true,
	Reads: []string{"$.commands", "$.kubelet.config", "$.kubelet.flags"},
	Plan:  planKubeletStart,
}

func planKubeletStart(in *concern.Input, out *concern.Output) {
	out.Join("", &resource.Check{Label: "kubelet-binary", PathExists: kubeletProgram(in)}, exitcode.KubeletInstallFailed,
		"systemd would skip a unit without its binary, without an error")
	requires := []resource.ID{
		resource.IDOf(&resource.Unit{Unit: concern.ContainerdUnit}),
		resource.IDOf(&resource.Unit{Unit: in.Family.Kubelet.Prepare}),
		resource.IDOf(&resource.Check{Label: "kubelet-binary"}),
		concern.KernelGroup.All(),
		concern.KubeletGroup.All(),
		concern.OutboundGroup.All(),
	}
	// An author's command that starts a snap gives it other settings. So its unit follows the command: it gives the snap this
	// node's, and restarts it where they differ.
	foreign := in.Starter >= 0 && !in.Snapped()
	if in.Starter >= 0 {
		start := concern.ShellCommand(in.Config.Commands, in.Starter)
		start.Reason = "a command of the contract's author starts the kubelet, in the place of Slipway"
		if !foreign {
			start.Reason = "a command of the contract's author; the kubelet then gets the settings of this node"
		}
		start.Requires, start.After = append(start.Requires, requires...), []resource.ID{concern.FirstGroup.All()}
		out.AppendTo(concern.StartGroup, start)
		requires = append(requires, start.ID())
	}
	if !foreign {
		// Not in the base phase: a baked image would start a kubelet that has no cluster yet.
		out.Enable(resource.Join, concern.KubeletUnit)
		out.AppendTo(concern.StartGroup, resource.Resource{
			Phase:    resource.Join,
			Requires: requires, After: []resource.ID{concern.FirstGroup.All()},
			ExitCode: exitcode.KubeletStartFailed,
			Reason:   "the node joins",
			Spec:     &resource.Unit{Unit: concern.KubeletUnit},
		})
	}
	// A kubelet answers before it has joined, and also if it cannot join. kubeadm checks it in the same way (kubelet-check).
	well, steady := Healthz(in.Config.Kubelet), kubeletStarted
	if well == nil {
		steady = kubeletUnasked
	}
	out.Append(resource.Resource{
		Phase:    resource.Join,
		Requires: []resource.ID{concern.StartGroup.All(), concern.JoinedGroup.All()},
		ExitCode: exitcode.KubeletStartFailed,
		Reason:   "the kubelet accepts its settings and keeps running",
		Spec: &resource.Check{
			Label: concern.KubeletActive, Timeout: kubeletPatience, UnitActive: concern.KubeletUnit, Foreign: foreign, Steady: steady, Restarts: kubeletRestarts,
			Well: well,
		},
	})
}
