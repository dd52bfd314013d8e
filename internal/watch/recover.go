package watch

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/generation"
)

// recover finishes or rolls back what a change or a provisioning has left unfinished, whatever is done about
// drift: it is no work of somebody else's. What died is put right at once, what has failed later and later: the
// reason may have passed.
func (r *run) recover(ctx context.Context) error {
	entries, err := r.Node.Generations()
	if err != nil {
		return nil // publish reports why
	}
	if len(entries) == 0 || !entries[len(entries)-1].Unfinished() {
		r.recovering, r.recoveries = false, 0
		return nil
	}
	current, now := entries[len(entries)-1], time.Now()
	if !r.recovering {
		r.recovering, r.recoveryDue = true, now
		if since := now.Sub(current.FinishedAt); current.Outcome == generation.Failed && since >= 0 {
			r.recoveryDue = now.Add(max(0, backoff(1)-since))
		}
	}
	if now.Before(r.recoveryDue) {
		r.failed = true
		return nil
	}
	var changed agent.Changed
	opts := agent.RepairOptions{Attempt: r.recoveries, Begin: func(current generation.Entry) {
		r.Log.Warn("the current generation is not finished; repairing the node", "generation", current.Number,
			"origin", string(current.Origin), "outcome", string(current.Outcome), "attempt", r.recoveries+1)
	}}
	err = r.during(ctx, "repairing the generation", true, func(ctx context.Context) error {
		changed = r.Node.Repair(ctx, opts)
		return nil
	})
	if err != nil {
		return err
	}
	r.recovered(changed)
	return nil
}

// recovered takes over what came of a recovery.
func (r *run) recovered(changed agent.Changed) {
	if changed.Busy {
		r.Log.Info("another run is working; the generation may be its own")
		r.recoveryDue = time.Now().Add(firstBackoff)
		return
	}
	r.Metrics.applied(changed.Status)
	r.Metrics.counted(changed.Status)
	if changed.Status.ExitCode != 0 {
		r.failed = true
		r.recoveries++
		delay := backoff(r.recoveries)
		r.recoveryDue = time.Now().Add(delay)
		r.Log.Error("cannot repair the node", "reason", why(changed), "retryIn", delay)
		return
	}
	r.recovering, r.recoveries = false, 0
	r.Log.Info("repaired the node", "generation", changed.Status.Generation, "changes", len(changed.Status.Changes))
	for _, s := range r.sources {
		if s.noted.Rejected == Failed {
			s.noted, s.unknown, s.due = note{}, true, time.Now() // it may be what the node has now
		}
	}
}
