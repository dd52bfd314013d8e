package publish

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/status"
)

// Platform receives the report about a provisioned machine.
type Platform interface {
	// ReportReady reports that the machine is provisioned, and ReportFailure that it cannot be, with as much of the
	// description as the platform accepts.
	ReportReady(ctx context.Context) error
	ReportFailure(ctx context.Context, description string) error
}

// reportPatience limits the report. The result is published before it.
const reportPatience = time.Minute

// Report reports the provisioning's end to the platform, and returns whether the platform has accepted that the machine
// is ready. If a machine does not report to the wire server, Azure considers it broken and ends its creation with an
// error (Azure: "Linux provisioning", "creating images without a provisioning agent").
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
