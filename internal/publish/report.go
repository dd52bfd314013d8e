package publish

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/status"
)

// Platform is what hears of a machine that is provisioned.
type Platform interface {
	// ReportReady tells the platform that the machine is provisioned, and ReportFailure that it cannot be, with as
	// much of the description as the platform takes.
	ReportReady(ctx context.Context) error
	ReportFailure(ctx context.Context, description string) error
}

// reportPatience is how long the platform may take to hear of the result, which has been published then.
const reportPatience = time.Minute

// Report tells the platform how provisioning ended, and reports whether it has heard that the machine is ready. Azure
// takes a machine for broken, and ends its creation with an error, that has not reported to the wire server (Azure:
// "Linux provisioning", "creating images without a provisioning agent").
func (p *Publisher) Report(ctx context.Context, platform Platform, result outcome.Result) (ready bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportPatience)
	defer cancel()
	begin := p.Now()
	if result.Status.Outcome == status.OutcomeFailure {
		if err := platform.ReportFailure(ctx, result.Text); err != nil {
			p.Log.Warn("cannot report the failure to the platform", "error", err)
		}
		return false
	}
	if err := platform.ReportReady(ctx); err != nil {
		p.Log.Warn("cannot report to the platform that the machine is ready; the next boot tries again", "error", err)
		return false
	}
	p.Log.Info("reported to the platform that the machine is ready", "duration", p.Now().Sub(begin))
	return true
}
