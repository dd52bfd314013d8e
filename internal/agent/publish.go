package agent

import (
	"context"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/publish"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/status"
)

// FactsPath is where the facts are that the last plan was made from.
var FactsPath = state.Facts.Path

// report tells the platform how provisioning ended, where nobody else does: cloud-init and the guest agent do it
// themselves. The lock has been given back by then, and is taken again for the record that the platform has heard.
func report(ctx context.Context, r *run, lock *lock, machine identity.Machine, result outcome.Result) {
	known := &machine.Facts
	cloud := r.agent.Cloud
	if cloud == nil || known.Platform != facts.Azure || known.CloudInit || known.GuestAgent || machine.Last != nil && machine.Last.Reported {
		return
	}
	if !r.publisher().Report(ctx, cloud, result) {
		return
	}
	if err := lock.during(ctx, func() error { return machine.RecordReported(r.host) }); err != nil {
		r.log.Warn("cannot record that the platform has heard of this machine; the next boot reports again", "path", IdentityPath, "error", err)
	}
}

// Wait waits until a provisioning has ended and returns its result document and exit code. An error
// is about the waiting: the document then says the same, and the code is the agent's own.
func (a *Agent) Wait(ctx context.Context) (document []byte, code int, err error) {
	publisher := publish.Publisher{Host: a.Host, Log: a.Log, Now: a.Now}
	return publisher.Wait(ctx, a.Called)
}

// LastStatus returns the status of the last provisioning.
func (a *Agent) LastStatus() (*status.Status, error) { return publish.LastStatus(a.Host) }
