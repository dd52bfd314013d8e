package plan

import (
	"strings"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubelet"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// How long the parts of a running node are waited for after a change.
const (
	// unitPatience is the limit for a unit: after a restart it is active within seconds, or not at all.
	unitPatience = resource.Duration(30 * time.Second)
	// kubeletSteady is how long a kubelet that refuses its settings takes at most to end, on a slow
	// machine.
	kubeletSteady = resource.Duration(5 * time.Second)
	// answerPatience is the limit for a unit's answer once it runs, on a small machine that has just read all its images and
	// pods.
	answerPatience = resource.Duration(90 * time.Second)
)

// healthChecks are the checks that follow a change or a rollback of a running node. They test each part in turn, from the container
// runtime to the Node that the cluster sees. Each check requires the previous one, so the first failed check names the broken
// part. A first boot does not run them: its kubelet may need more time to join than a change may need to show that it did no harm.
//
// Parts without a way to test them are left out: a kubelet whose health endpoint is disabled or on another
// address than the loopback's, a Node whose credential only a plug-in has, and the whole kubelet of a
// config that does not join. A lease needs a node that has joined; before that, its check fails,
// as resource.CauseMissing.
func healthChecks(c *nodeconfig.NodeConfig) []resource.Resource {
	h := &health{}
	h.add(resource.Base, exitcode.UnitStartFailed, "the container runtime runs",
		&resource.Check{Label: "health-containerd-active", Timeout: unitPatience, UnitActive: concern.ContainerdUnit})
	h.add(resource.Base, exitcode.UnitStartFailed, "the container runtime answers the kubelet's calls",
		&resource.Check{Label: "health-runtime-ready", Timeout: answerPatience, RuntimeReady: containerdReady()})
	if c.Join.Method == nodeconfig.JoinNone {
		return h.checks
	}
	h.add(resource.Join, exitcode.KubeletStartFailed, "the kubelet runs",
		&resource.Check{Label: "health-kubelet-active", Timeout: unitPatience, UnitActive: concern.KubeletUnit, Steady: kubeletSteady})
	if healthz := kubelet.Healthz(c.Kubelet); healthz != nil {
		h.add(resource.Join, exitcode.KubeletStartFailed, "the kubelet is healthy",
			&resource.Check{Label: "health-kubelet-healthz", Timeout: answerPatience, Healthz: healthz})
	}
	if credentials := concern.KubeletCredentials(c); credentials != nil {
		h.add(resource.Join, exitcode.KubeletStartFailed, "the kubelet renews its Node's lease, so the cluster sees the node",
			&resource.Check{
				Label:   "health-node-lease",
				Timeout: c.Checks.ChangeTimeout,
				ExitCodes: map[resource.Cause]int{
					resource.CauseDNS:        exitcode.APIServerNameUnresolved,
					resource.CauseCloudDNS:   exitcode.APIServerNameUnknown,
					resource.CauseConnection: exitcode.APIServerUnreachable,
					resource.CauseTLS:        exitcode.APIServerUnreachable,
					resource.CauseCredential: exitcode.APIServerUnreachable,
				},
				LeaseRenewed: &resource.LeaseRenewed{
					Server:               c.Cluster.Server,
					CertificateAuthority: c.Cluster.CertificateAuthority,
					Credentials:          credentials,
					Node:                 kubeletsetting.NodeName(c.Kubelet),
				},
			})
	}
	return h.checks
}

// containerdReady asks containerd as the kubelet does.
func containerdReady() *resource.RuntimeReady {
	return &resource.RuntimeReady{Socket: strings.TrimPrefix(concern.ContainerdSocket, "unix://")}
}

// RuntimeCheck checks that the container runtime answers. It runs after a kubelet has failed: if the runtime hangs, it is the
// cause, not the kubelet.
func RuntimeCheck() resource.Resource {
	return resource.Resource{Phase: resource.Base, ExitCode: exitcode.UnitStartFailed, Reason: "the kubelet needs a container runtime that answers",
		Spec: &resource.Check{Label: "runtime-answers", Timeout: resource.Duration(10 * time.Second), RuntimeReady: containerdReady()}}
}

// health is a chain of checks.
type health struct{ checks []resource.Resource }

func (h *health) add(phase resource.Phase, exitCode int, reason string, check *resource.Check) {
	r := resource.Resource{Phase: phase, ExitCode: exitCode, Reason: reason, Spec: check}
	if n := len(h.checks); n > 0 {
		r.Requires = []resource.ID{h.checks[n-1].ID()}
	}
	h.checks = append(h.checks, r)
}
