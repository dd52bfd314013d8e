package agent

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/profile"
)

// WaitProvisioning waits until the boot's provisioning ends, if it runs. It works on files that a plan has, so until then they are neither
// the last generation's nor the next one's, and it needs the processors until the kubelet runs.
func (a *Agent) WaitProvisioning(ctx context.Context) error {
	return a.Host.WaitProcess(ctx, profile.AgentUnit)
}

// BeforeKubelet returns how long this boot took until systemd started the kubelet's main process. The kubelet exports
// the same value as kubelet_node_startup_pre_kubelet_duration_seconds: its start minus the kernel's (Kubernetes:
// pkg/kubelet/util, NewNodeStartupLatencyTracker), so it refers to the kubelet's last start.
func (a *Agent) BeforeKubelet(ctx context.Context) (time.Duration, error) {
	boot, err := a.Host.BootTimes(ctx)
	if err != nil {
		return 0, err
	}
	started, err := a.Host.ServiceStart(ctx, plan.KubeletUnit)
	switch {
	case err != nil:
		return 0, err
	case started.IsZero() || boot.Kernel.IsZero():
		return 0, errors.New("the kubelet has not been started in this boot")
	case started.Before(boot.Kernel):
		return 0, errors.New("the clock was set during the boot")
	}
	return started.Sub(boot.Kernel), nil
}
