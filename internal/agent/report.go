package agent

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/status"
)

// reportPatience is how long the platform may take to hear of the result, which has been published then.
const reportPatience = time.Minute

// report tells the platform how provisioning ended, where nobody else does: Azure takes a machine for broken,
// and ends its creation with an error, that has not reported to the wire server (Azure: "Linux provisioning",
// "creating images without a provisioning agent"). cloud-init and the guest agent do it themselves.
func (p *provision) report(ctx context.Context) {
	if !p.reports() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportPatience)
	defer cancel()
	begin := p.Now()
	if p.result.Status.Outcome == status.OutcomeFailure {
		if err := p.Cloud.ReportFailure(ctx, p.result.Text); err != nil {
			p.Log.Warn("cannot report the failure to the platform", "error", err)
		}
		return
	}
	if err := p.Cloud.ReportReady(ctx); err != nil {
		p.Log.Warn("cannot report to the platform that the machine is ready; the next boot tries again", "error", err)
		return
	}
	p.Log.Info("reported to the platform that the machine is ready", "duration", p.Now().Sub(begin))
	if err := p.recordReported(ctx); err != nil {
		p.Log.Warn("cannot record that the platform has heard of this machine; the next boot reports again", "path", IdentityPath, "error", err)
	}
}

// recordReported adds to the record of this machine that the platform has heard of it. The lock has been given back
// by then, and another run may have written the record since.
func (p *provision) recordReported(ctx context.Context) error {
	if err := p.lock(ctx); err != nil {
		return err
	}
	defer p.unlock()
	return p.machine.RecordReported(p.Host)
}

// reports says whether this run is the one that the platform hears of.
func (p *provision) reports() bool {
	return p.Cloud != nil && p.machine.Facts.Platform == facts.Azure && !p.machine.Facts.CloudInit && !p.machine.Facts.GuestAgent &&
		!p.isScript() && !p.opts.DryRun && (p.machine.Last == nil || !p.machine.Last.Reported)
}
