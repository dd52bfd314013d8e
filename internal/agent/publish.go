package agent

import (
	"context"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/publish"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/status"
)

// Where the status of the last provisioning is, whatever the dialect, and the facts that its plan was made from.
var (
	StatusPath = state.Status.Path
	FactsPath  = state.Facts.Path
)

func (a *Agent) publisher() *publish.Publisher {
	return &publish.Publisher{Host: a.Host, Log: a.Log, Now: a.Now}
}

// target is where the result is published.
func (p *provision) target() publish.Target {
	return publish.Target{
		Called: p.Called, Dialect: p.dialect, Contract: p.account.Status.Config.Path, BaseOnly: p.baseOnly, Script: p.isScript(),
	}
}

func (p *provision) isScript() bool { return p.opts.Script != "" && p.opts.Config == "" }

// retract removes the markers of earlier runs.
func (p *provision) retract() error { return p.publisher().RemoveMarkers(p.target()) }

// retractFailure removes the marker of an earlier run that failed, before a contract is waited for: whoever
// waits meanwhile is to get the result of this boot.
func (p *provision) retractFailure(ctx context.Context) error {
	if failed, err := publish.FailureMarked(p.Host); err != nil || !failed {
		return err
	}
	if err := p.lock(ctx); err != nil {
		return err
	}
	defer p.unlock()
	return p.retract()
}

// publish publishes the result, unless the one that is published is still true, or is another run's.
func (p *provision) publish(ctx context.Context) {
	if p.unchanged && p.result.Succeeded() {
		p.Log.Debug("nothing changed; the published result stays")
		return
	}
	if !p.mayPublish(ctx) {
		p.Log.Error("another provisioning is running; its result is published, not this one's")
		return
	}
	p.result = p.publisher().WriteResult(ctx, p.result, p.target())
}

// mayPublish takes the lock where the run ended before it did so. Only a lock that another run holds is
// a reason not to publish: that one ends within its own time, and is waited for.
func (p *provision) mayPublish(ctx context.Context) bool {
	if p.release != nil || p.yielded {
		return !p.yielded
	}
	ctx, cancel := context.WithTimeout(ctx, nodeconfig.DefaultTimeout.Std())
	defer cancel()
	if err := p.guarded(func() error { return p.lock(ctx) }); err != nil {
		p.Log.Warn("the lock cannot be taken", "path", apply.LockPath, "error", err)
	}
	return !p.yielded
}

// report tells the platform how provisioning ended, where nobody else does: cloud-init and the guest agent do it
// themselves.
func (p *provision) report(ctx context.Context) {
	if !p.reports() || !p.publisher().Report(ctx, p.Cloud, p.result) {
		return
	}
	if err := p.recordReported(ctx); err != nil {
		p.Log.Warn("cannot record that the platform has heard of this machine; the next boot reports again", "path", IdentityPath, "error", err)
	}
}

// recordReported adds to the record of this machine that the platform has heard of it. The lock has been given back
// by then.
func (p *provision) recordReported(ctx context.Context) error {
	if err := p.lock(ctx); err != nil {
		return err
	}
	defer p.unlock()
	return p.machine.RecordReported(p.Host)
}

// reports says whether this run is the one that the platform hears of.
func (p *provision) reports() bool {
	known := &p.machine.Facts
	return p.Cloud != nil && known.Platform == facts.Azure && !known.CloudInit && !known.GuestAgent &&
		!p.isScript() && !p.opts.DryRun && (p.machine.Last == nil || !p.machine.Last.Reported)
}

// Wait waits until a provisioning has ended and returns its result document and exit code. An error
// is about the waiting: the document then says the same, and the code is the agent's own.
func (a *Agent) Wait(ctx context.Context) (document []byte, code int, err error) {
	return a.publisher().Wait(ctx, a.Called)
}

// LastStatus returns the status of the last provisioning.
func (a *Agent) LastStatus() (*status.Status, error) { return publish.LastStatus(a.Host) }
