package kubelet

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// shutdown has logind wait for a kubelet that ends its pods before the machine goes down. The kubelet would raise the delay
// itself, in 99-kubelet.conf, and asks logind once whether that has helped: where logind is slow, or another drop-in comes
// after that one, the kubelet goes on without ending any pod (pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go,
// Kubernetes 1.36).
var shutdown = concern.Concern{
	Name:  "graceful shutdown",
	Joins: true,
	Reads: []string{"$.files", "$.kubelet.config"},
	Plan:  planShutdown,
}

const (
	logindUnit    = "systemd-logind.service"
	logindDropIns = "/etc/systemd/logind.conf.d/"
	// logindDelay is what logind allows without a setting (logind.conf(5), InhibitDelayMaxSec=).
	logindDelay = 5 * time.Second
	// upgradesDelay is the delay that unattended-upgrades allows. The name of its drop-in sorts after the kubelet's, so it takes
	// precedence.
	upgradesDelay = 30 * time.Second
)

func planShutdown(in *concern.Input, out *concern.Output) {
	k := in.Config.Kubelet
	if own := in.FamilySettings; own != nil {
		k.Config = kubeletsetting.Merge(own, k.Config)
	}
	period := shutdownPeriod(k)
	if period <= logindDelay {
		return
	}
	out.Member(concern.FirstGroup, resource.IDOf(&resource.Unit{Unit: logindUnit})) // it has read the delay, where it runs already
	seconds := int64((period + time.Second - 1) / time.Second)
	// It comes before the kubelet's own, which has the last word when its period grows.
	logind(in, out, "logind waits as long as the kubelet takes to end its pods (Kubernetes: Graceful Node Shutdown)", &resource.File{
		Path: logindDropIns + "98-slipway-shutdown.conf", Mode: 0o644, Content: unitfile.File(unitfile.Section("Login"), unitfile.Set("InhibitDelayMaxSec", unitfile.Number(int(seconds)))),
	})
	if dropIn := in.Distro.Updates.Logind; period > upgradesDelay && dropIn != "" {
		logind(in, out, "the drop-in of unattended-upgrades would allow less, and its name comes last", &resource.Symlink{Path: dropIn, Target: "/dev/null"})
	}
}

// logind adds a drop-in of logind's, unless the contract brings it.
func logind(in *concern.Input, out *concern.Output, reason string, spec resource.Spec) {
	if slices.ContainsFunc(in.Config.Files, func(f nodeconfig.File) bool { return f.Path == spec.Name() }) {
		return
	}
	out.Join("", spec, 0, reason).Effects = resource.Effects{Reloads: []string{logindUnit}}
}

// shutdownPeriod is how long the kubelet delays a shutdown: the sum of all its periods. A period that the kubelet refuses counts as 0.
func shutdownPeriod(k nodeconfig.Kubelet) time.Duration {
	text, _ := kubeletsetting.Field(k, "shutdownGracePeriod").(string)
	period, _ := time.ParseDuration(text)
	list, _ := kubeletsetting.Field(k, "shutdownGracePeriodByPodPriority").([]any)
	var sum time.Duration
	for _, entry := range list {
		fields, _ := entry.(map[string]any)
		seconds, err := strconv.ParseInt(fmt.Sprint(fields["shutdownGracePeriodSeconds"]), 10, 32)
		if err == nil && seconds > 0 {
			sum += time.Duration(seconds) * time.Second
		}
	}
	return max(period, sum)
}
