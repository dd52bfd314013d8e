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

// ProvisionOptions configure a provisioning.
type ProvisionOptions struct {
	// Config is the path of the contract. Empty means the known places.
	Config string
	// Script is the path of a script to run instead of a plan, if Config is empty.
	Script string
	// Facts are used instead of gathering them, if not nil.
	Facts *facts.Facts
	// Source is the single place to look for the contract if Config is empty, by its name in package source. Empty
	// means all places of the machine.
	Source string
	// Wait is how long to look for a contract that is not there yet. 0 means look once.
	Wait time.Duration
	// Force also applies a contract with a lower revision than the node's.
	Force bool
	// AllowUnapplied are the paths of settings that may be left out although the node needs them, in addition to the
	// paths in the contract and in the image's contract.
	AllowUnapplied []string
	// Reading is how to read the contract, set by flags.
	Reading compile.Reading
	// Mode is which program makes the node.
	Mode Mode
	// DryRun compares, and neither changes nor publishes anything.
	DryRun bool
	// Identified is called when the agent knows which machine this is, nothing of another machine is left, and the
	// network has what the kubelet of the node's last plan reads of it: from then on a kubelet may start. It is called
	// once, from another goroutine. It may be nil.
	Identified func()
}

// Provision makes the machine a node and publishes the result. It publishes a failure too, except if another
// provisioning is at work, which publishes its own result. The returned status is the published one and holds the exit
// code.
func (a *Agent) Provision(ctx context.Context, opts ProvisionOptions) *status.Status {
	if opts.Script != "" && opts.Config == "" {
		return runScript(ctx, a, opts)
	}
	r := begin(a, opts.Config, true)
	r.given, r.dryRun, r.allowed, r.reading, r.mode = opts.Facts, opts.DryRun, opts.AllowUnapplied, opts.Reading, opts.Mode
	lock := newLock(r)
	var machine identity.Machine
	var found located
	var made *contract
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
	result := r.examined(ctx, err, timeoutOf(made)).conclude(err)
	if r.dryRun {
		return &result.Status
	}
	if unchanged && result.Succeeded() {
		r.log.Debug("nothing changed; the published result stays")
		if err := r.guarded(func() error { return r.host.Unstage(state.Status.Path) }); err != nil { // of a run that died after staging
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
	if made != nil && result.Succeeded() {
		made.annotate(ctx, r, machine)
	}
	result = r.afterwards(ctx, lock, result)
	if result.Succeeded() {
		registerAgain(ctx, r)
	}
	return &result.Status
}
