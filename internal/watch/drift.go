package watch

import (
	"context"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/apply"
)

// maxDriftNames is how many resources that have drifted are named in the log.
const maxDriftNames = 20

// lookForDrift finds changes that Slipway did not make, and repairs them if that is the policy.
func (r *run) lookForDrift(ctx context.Context) error {
	if r.Drift == Off || time.Now().Before(r.repairs.due) {
		return nil
	}
	r.repairs.due = time.Now().Add(spread(r.DriftInterval, r.Seed, "drift", time.Now()))
	entries, err := r.Node.Generations()
	if err != nil || len(entries) == 0 {
		return nil // publish reports why
	}
	drift, err := r.drift(ctx)
	if err != nil {
		if ctx.Err() == nil {
			r.failed = true
			r.Log.Warn("cannot compare the machine with its generation", "error", err)
		}
		return nil
	}
	if len(drift) == 0 && r.repairs.failures > 0 {
		return r.repair(ctx) // the drift is repaired, and the node was not well then
	}
	if len(drift) == 0 {
		return nil
	}
	var names []string
	left := 0
	for _, c := range drift {
		if len(names) < maxDriftNames {
			names = append(names, strings.TrimSpace(string(c.ID)+" "+c.Note))
		}
		if c.Action == apply.Left {
			left++
		}
	}
	r.Log.Warn("drift", "count", len(drift), "resources", names, "policy", string(r.Drift))
	if r.Drift != MendAll && (r.Drift != Mend || left == len(drift)) {
		return nil
	}
	if current := entries[len(entries)-1]; current.Unfinished() {
		r.Log.Warn("drift is repaired together with the generation, which is not finished", "generation", current.Number,
			"outcome", string(current.Outcome), "retryIn", time.Until(r.recovery.due).Round(time.Second))
		return nil
	}
	return r.repair(ctx)
}

// drift counts what is not as the current generation has it.
func (r *run) drift(ctx context.Context) ([]apply.Change, error) {
	var found []apply.Change
	err := r.during(ctx, "looking for drift", false, func(ctx context.Context) (err error) {
		found, err = r.Node.Drift(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.Metrics.drift(len(found))
	return found, nil
}

// repair applies the machine's generation again. If that fails, the delay before the next attempt grows, because each attempt
// may start units again.
func (r *run) repair(ctx context.Context) error {
	changed, err := r.change(ctx, "repairing drift", func(ctx context.Context) agent.Changed {
		return r.Node.Repair(ctx, agent.RepairOptions{Attempt: r.repairs.failures, All: r.Drift == MendAll})
	})
	if err != nil || !r.concluded(&r.repairs, changed, r.DriftInterval,
		"another run is working; checking for drift again after it", "cannot repair drift") {
		return err
	}
	r.Log.Info("drift is repaired", "changes", len(changed.Status.Changes))
	if ctx.Err() == nil {
		_, _ = r.drift(ctx) // for the metrics; the next look reports what is left
	}
	return nil
}
