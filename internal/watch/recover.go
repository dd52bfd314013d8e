package watch

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/generation"
)

// recover finishes or rolls back an unfinished change or provisioning, whatever the drift policy is: an unfinished run is no
// drift. It acts at once if the run died, and with growing delays if the run failed: the reason may have passed.
func (r *run) recover(ctx context.Context) error {
	entries, err := r.Node.Generations()
	if err != nil {
		return nil // publish reports why
	}
	if len(entries) == 0 || !entries[len(entries)-1].Unfinished() {
		r.recovering, r.recovery.failures = false, 0
		return nil
	}
	current, now := entries[len(entries)-1], time.Now()
	if !r.recovering {
		r.recovering, r.recovery.due = true, now
		if since := now.Sub(current.FinishedAt); current.Outcome == generation.Failed && since >= 0 {
			r.recovery.due = now.Add(max(0, backoff(1)-since))
		}
	}
	if now.Before(r.recovery.due) {
		r.failed = true
		return nil
	}
	opts := agent.RepairOptions{Attempt: r.recovery.failures, Begin: func(current generation.Entry) {
		r.Log.Warn("the current generation is not finished; repairing the node", "generation", current.Number,
			"origin", string(current.Origin), "outcome", string(current.Outcome), "attempt", r.recovery.failures+1)
	}}
	changed, err := r.change(ctx, "repairing the generation", func(ctx context.Context) agent.Changed { return r.Node.Repair(ctx, opts) })
	if err != nil || !r.concluded(&r.recovery, changed, 0, "another run is working; the generation may be its own", "cannot repair the node") {
		return err
	}
	r.recovering = false
	r.Log.Info("repaired the node", "generation", changed.Status.Generation, "changes", len(changed.Status.Changes))
	for _, s := range r.sources {
		if s.noted.Rejected == Failed {
			s.noted, s.unknown, s.due = note{}, true, time.Now() // it may be what the node has now
		}
	}
	return nil
}
