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

// FactsPath is the file with the facts of the last plan.
var FactsPath = state.Facts.Path

// report reports the provisioning's end to the platform, if no other program does: cloud-init and the guest agent
// report it themselves. The run has given back the lock by then, and takes it again to record that the platform has the
// report.
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

// Wait waits until a provisioning has ended and returns its result document and exit code. If the wait itself fails, it
// returns an error, a document with the same error, and the agent's exit code.
func (a *Agent) Wait(ctx context.Context) (document []byte, code int, err error) {
	publisher := publish.Publisher{Host: a.Host, Log: a.Log, Now: a.Now}
	return publisher.Wait(ctx, a.Called)
}

// LastStatus returns the status of the last provisioning.
func (a *Agent) LastStatus() (*status.Status, error) { return publish.LastStatus(a.Host) }
