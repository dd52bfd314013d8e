package agent

import (
	"context"
	"fmt"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/status"
)

// runScript runs a script instead of a plan. The script publishes its result itself, as AKS's scripts do. If it does
// not, the agent publishes a result.
func runScript(ctx context.Context, a *Agent, opts ProvisionOptions) *status.Status {
	r := begin(a, opts.Config, true)
	lock := newLock(r)
	r.given, r.dryRun, r.target.Script = opts.Facts, opts.DryRun, true
	err := r.guarded(func() error {
		if _, err := identify(ctx, r, lock, recall(r), opts); err != nil {
			return err
		}
		desired, err := planScript(r, opts.Script)
		if err != nil {
			return err
		}
		if r.dryRun {
			report, err := r.node().Preview(ctx, desired)
			r.account.Applied(report)
			return err
		}
		return settle(ctx, r, nodeconfig.DefaultTimeout.Std(), nil, func(ctx context.Context) error { return applyScript(ctx, r, lock, desired) }, nil)
	})
	result := r.conclude(err)
	if !r.dryRun {
		result = publishResult(ctx, r, lock, result)
		lock.giveBack()
	}
	return &result.Status
}

// planScript plans the one command of a contract that is a script.
func planScript(r *run, script string) (resource.Plan, error) {
	r.target.Dialect, r.target.Contract = dialect.AKS, script
	r.account.Status.Config.Path, r.account.Status.Config.Dialect = script, "script"
	entry, err := named(r).Stat(script)
	if err != nil {
		return resource.Plan{}, err
	}
	if entry.Kind != apply.RegularFile {
		return resource.Plan{}, outcome.NotFoundError{Cause: fmt.Errorf("script %s is not a regular file: deliver one there", script)}
	}
	return plan.UserCommand(script, nodeconfig.DefaultTimeout), nil
}

// applyScript runs a script; its changes are not recorded as a generation. It holds the lock from before it removes the
// marker of an earlier run until it has published its marker.
func applyScript(ctx context.Context, r *run, lock *lock, desired resource.Plan) error {
	if err := takeLock(ctx, r, lock); err != nil {
		return err
	}
	if err := r.publisher().RemoveMarkers(r.target); err != nil {
		return err
	}
	report, err := r.node().Run(ctx, desired)
	r.account.Applied(report)
	return err
}
