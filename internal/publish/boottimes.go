package publish

import (
	"context"

	"github.com/slipway-dev/slipway/status"
)

// fill sets the times of a result that are empty and known by now. The agent often ends before the boot does, so later
// readers get more times. It reports whether it has set any.
func (p *Publisher) fill(ctx context.Context, doc *status.CSEStatus) bool {
	filled := false
	set := func(field *string, know func() string) {
		if *field == "" {
			*field = know()
			filled = filled || *field != ""
		}
	}
	boot, err := p.Host.BootTimes(ctx)
	if err != nil {
		p.Log.Warn("boot times are not known", "error", err)
	}
	now := status.SystemdTime(boot.Kernel)
	if doc.KernelStartTime != "" && now != "" && doc.KernelStartTime != now {
		return false // the result is from an earlier boot
	}
	set(&doc.KernelStartTime, func() string { return now })
	set(&doc.BootDatapoints.KernelStartTime, func() string { return doc.KernelStartTime })
	set(&doc.SystemdSummary, boot.Summary)
	for _, service := range []struct {
		field *string
		unit  string
	}{
		{&doc.CloudInitLocalStartTime, "cloud-init-local.service"},
		{&doc.CloudInitStartTime, "cloud-init.service"},
		{&doc.CloudFinalStartTime, "cloud-final.service"},
		{&doc.NetworkdStartTime, "systemd-networkd.service"},
		{&doc.GuestAgentStartTime, "walinuxagent.service"},
		{&doc.BootDatapoints.KubeletStartTime, "kubelet.service"},
	} {
		set(service.field, func() string { return p.serviceStart(ctx, service.unit) })
	}
	set(&doc.BootDatapoints.GuestAgentStartTime, func() string { return doc.GuestAgentStartTime })
	return filled
}

// serviceStart is when a service started, as systemd prints it; empty if it never did.
func (p *Publisher) serviceStart(ctx context.Context, unit string) string {
	at, err := p.Host.ServiceStart(ctx, unit)
	if err != nil {
		p.Log.Warn("start of a service is not known", "unit", unit, "error", err)
	}
	return status.SystemdTime(at)
}
