package apply

import (
	"context"
	"slices"

	"github.com/slipway-dev/slipway/internal/resource"
)

// Afterwards does the work that Apply has deferred, unless another run has done it meanwhile. If another run has
// deferred more than that, the next run does all of it. The caller holds the lock at LockPath.
func (e *Engine) Afterwards(ctx context.Context, owed []resource.Resource) (*Report, error) {
	later := *e
	later.Defer, later.Sequential = false, true // nothing waits for it, so there is no critical path
	run := &run{Engine: &later, plan: resource.Plan{Resources: owed}, began: e.Now()}
	err := run.guarded("afterwards", func() error {
		if err := run.recover(); err != nil || !run.owes(owed) {
			return err
		}
		run.intent = run.earlier
		order, err := run.graph()
		if err != nil {
			return err
		}
		return run.finish(run.actions(ctx, order))
	})
	return run.report(), err
}

// owes reports whether the record of the intent is not empty and has only the owed resources.
func (r *run) owes(owed []resource.Resource) bool {
	i := &r.earlier
	return len(i.Commands) > 0 && !i.Reload && len(i.Restarts)+len(i.Reloads)+len(i.Paths) == 0 &&
		!slices.ContainsFunc(i.Commands, func(label string) bool {
			return !slices.ContainsFunc(owed, func(res resource.Resource) bool { return res.Spec.Name() == label })
		})
}

// defers reports whether a node is deferred to Afterwards. The resources of an earlier plan are undone at once.
func (r *run) defers(n *node) bool {
	c, ok := n.Spec.(*resource.Command)
	return ok && r.Defer && !n.stale && c.Background()
}
