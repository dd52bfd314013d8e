package agent

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-dev/slipway/internal/plan"
)

// BeforeKubelet is how long this boot took until the kubelet's main process was started. It is what the
// kubelet itself exports as kubelet_node_startup_pre_kubelet_duration_seconds: its own start, less the
// kernel's (Kubernetes: pkg/kubelet/util, NewNodeStartupLatencyTracker), and so of the kubelet's last start.
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
