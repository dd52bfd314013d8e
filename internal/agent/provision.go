package agent

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/status"
)

// ProvisionOptions say what to provision from.
type ProvisionOptions struct {
	// Config is the path of the contract; empty for the known places.
	Config string
	// Script is the path of a script to run instead of a plan, where there is no Config.
	Script string
	// Facts are used instead of gathering them, where not nil.
	Facts *facts.Facts
	// Source is the one place to look for the contract where no Config is given, by its name in
	// package source; empty for all that the machine has.
	Source string
	// Wait is how long a contract that is not there yet is looked for; 0 looks once.
	Wait time.Duration
	// Force applies a contract whose author gave it a lower revision than the node's, too.
	Force bool
	// AllowUnapplied are the paths of settings that may be left out although somebody needs them, beside those that the
	// contract and the image's own contract name.
	AllowUnapplied []string
	// Reading is what is said beside the contract of how it is read.
	Reading compile.Reading
	// Mode is who makes the node.
	Mode Mode
	// DryRun compares and changes nothing, nor publishes anything.
	DryRun bool
	// Identified is called when it is known which machine this is, nothing of another machine is left, and what the kubelet of the
	// node's last plan reads of the network is there: from then on a kubelet may be started. It is called once, and beside
	// everything else. It may be nil.
	Identified func()
}

// Provision makes the machine a node and publishes the result. It never fails without publishing, but
// where another provisioning is at work, which publishes its own: the returned status is what was
// published, and holds the exit code.
func (a *Agent) Provision(ctx context.Context, opts ProvisionOptions) *status.Status {
	if opts.Script != "" && opts.Config == "" {
		return runScript(ctx, a, opts)
	}
	r := begin(a, opts.Config, true)
	r.given, r.dryRun, r.allowed, r.reading, r.mode = opts.Facts, opts.DryRun, opts.AllowUnapplied, opts.Reading, opts.Mode
	lock := newLock(r)
	var machine identity.Machine
	var found located
	var made contract
	var unchanged bool
	err := r.guarded(func() (err error) {
		machine = recall(r)
		if machine, err = identify(ctx, r, lock, machine, opts); err != nil {
			return err
		}
		if found, err = locate(ctx, r, machine, lookup{path: opts.Config, only: opts.Source, wait: opts.Wait, script: opts.Script}); err != nil {
			return err
		}
		contract, err := read(r, found, machine.Facts)
		if err != nil {
			return err
		}
		chosen, err := chooseMode(r, contract, machine.Facts)
		if err != nil {
			return err
		}
		if chosen == Legacy {
			unchanged, err = handOver(ctx, r, lock, &machine, contract)
			return err
		}
		made = contract
		step, err := planStep(ctx, r, contract, &machine, generation.Provision)
		if err != nil {
			return err
		}
		r.gate.planned(step.Plan)
		if r.dryRun {
			return preview(ctx, r, machine, step, opts.Force)
		}
		return settle(ctx, r, contract.Config.Checks.Timeout.Std(), &machine, func(ctx context.Context) (err error) {
			unchanged, err = boot(ctx, r, lock, &machine, step, opts.Force)
			return err
		}, func(ctx context.Context) (err error) {
			step, err = planStep(ctx, r, contract, &machine, generation.Provision)
			return err
		})
	})
	r.gate.leave()
	result := r.conclude(err)
	if r.dryRun {
		return &result.Status
	}
	if unchanged && result.Succeeded() {
		r.log.Debug("nothing changed; the published result stays")
		if err := r.guarded(func() error { return r.host.Unstage(state.Status.Path) }); err != nil { // of a run that died afterwards
			r.log.Warn("a part of a status that an earlier run has left cannot be removed", "path", state.Status.Path, "error", err)
		}
	} else {
		result = publishResult(ctx, r, lock, result)
	}
	if lock.held() && result.Succeeded() {
		_ = r.guarded(func() error {
			machine.Remember(r.host, r.log, found.Contract, r.target.Dialect, r.target.BaseOnly)
			return nil
		})
		_ = r.guarded(func() error { r.host.refill(); return nil })
	}
	lock.giveBack()
	recordDescription(ctx, r, machine.Facts)
	report(ctx, r, lock, machine, result)
	if made.Contract != nil && result.Succeeded() {
		made.annotate(ctx, r, machine)
	}
	result = r.afterwards(ctx, lock, result)
	return &result.Status
}
