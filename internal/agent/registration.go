package agent

import (
	"context"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/transition"
	"github.com/slipway-dev/slipway/status"
)

// register sets the current generation's labels on the cluster's Node, and records in the run's account what is
// pending. Its error counts only if the run did nothing else: a finished change stays, and the next drift check tries
// again.
func register(ctx context.Context, r *run, store *generation.Store, made transition.Made) (transition.Made, error) {
	changed, pending, err := r.node().Register(ctx, store)
	r.account.Status.Pending = pending
	r.account.Applied(&apply.Report{Changes: changed})
	for _, text := range pending {
		r.log.Warn("the Node does not have what its config wants", "pending", text)
	}
	if err != nil && made.Attempted {
		r.log.Warn("the Node's labels are not changed; the next look for drift tries again", "error", err)
		err = nil
	}
	made.Attempted = made.Attempted || len(changed) > 0
	return made, err
}

// registerAgain does at a boot what an earlier change of labels has left, once nothing waits for the agent: a boot may
// apply a contract with other labels to a machine whose Node exists.
func registerAgain(ctx context.Context, r *run) {
	err := r.guarded(func() error {
		store, err := generation.Open(r.host, r.log)
		if err == nil {
			_, err = register(ctx, r, store, transition.Made{})
		}
		return err
	})
	if err != nil {
		r.log.Warn("the Node's labels are not changed; the next boot or look for drift tries again", "error", err)
	}
}

// RefreshPending reads which settings the cluster's Node lacks, and updates a status. If the cluster does not answer,
// the status stays.
func (a *Agent) RefreshPending(ctx context.Context, s *status.Status) {
	r := begin(a, "", false)
	err := r.guarded(func() error {
		store, err := generation.Open(r.host, r.log)
		if err != nil {
			return err
		}
		changes, _, err := r.node().Pending(ctx, store)
		if err != nil {
			return err
		}
		s.Pending = nil
		for _, c := range changes {
			s.Pending = append(s.Pending, transition.PendingText(c))
		}
		return nil
	})
	if err != nil {
		r.log.Debug("cannot ask what the Node does not have yet", "error", err)
	}
}
