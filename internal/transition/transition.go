// Package transition takes a machine from one generation to the next: it compares the two, applies the plan of the next, checks
// the node's health, and restores the last good generation if the checks fail. It decides what a boot, a rollback and a repair
// apply, if that is not the contract. It sets a timer that rolls back a change unless an administrator confirms it. It reports
// how a machine differs from its generation.
//
// It makes no plan and publishes nothing: it returns its results. It takes no lock: the caller of a function that changes
// the machine holds it. internal/agent calls it.
package transition

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/registration"
	"github.com/slipway-dev/slipway/internal/resource"
)

// Host is what the package needs of the machine.
type Host interface {
	apply.Host
	generation.Files
	facts.Machine
	// ReadNode returns this machine's Node. LabelNode changes its labels: it removes a label whose value is nil. The error is
	// apply.ErrNotProbed if there is no server to call.
	ReadNode(ctx context.Context, way *resource.LeaseRenewed) (*registration.Node, error)
	LabelNode(ctx context.Context, way *resource.LeaseRenewed, labels map[string]*string) error
}

// Node is a machine that has generations.
type Node struct {
	Host Host
	// Hold, with forward true, keeps the run from using the disk space that is reserved for a rollback.
	Hold func(forward bool)
	Log  *slog.Logger
	// Now is the clock.
	Now func() time.Time
	// Program is the agent's own path, for the timer that rolls a change back.
	Program string
	// Sequential does one thing at a time, in an order that depends on the plan alone.
	Sequential bool
}

// Step is a step from one generation to the next.
type Step struct {
	Plan resource.Plan
	// Entry is the generation's index entry, without its number and outcome.
	Entry generation.Entry
	// All also undoes decisions of administrators: masks and drop-ins of units.
	All bool
	// Ask decides when the plan's health checks run after the step.
	Ask When
	// Late, if not nil, waits for input that is not there yet, and returns the plan with it: the same resources, some files with
	// other content. It is called right before the kubelet starts.
	Late func(ctx context.Context) resource.Plan

	// masked are the current generation's masked units with the mask of each. It is valid if asked is true.
	masked map[string]string
	asked  bool
}

// When decides when health checks run. At a first boot they never run: its kubelet may need more time to join than the checks
// wait.
type When int

// The times; each includes those before it.
const (
	// Never is for a plan whose own checks report the node's health.
	Never When = iota
	// IfNew runs them if the machine did not have the plan already. After a reboot the cluster may need more time to see a good
	// node's kubelet again than the checks wait.
	IfNew
	// IfChanged is also where it had the plan, and something had to be changed.
	IfChanged
	// Always is also where nothing had to be changed.
	Always
)

// asks reports whether the health checks run after the step.
func (s *Step) asks(settled, changed bool) bool {
	switch {
	case s.Ask == Never:
		return false
	case !settled:
		return s.Entry.Origin != generation.Provision
	}
	return s.Ask == Always || s.Ask == IfChanged && changed
}

// Made is what has come of a transition.
type Made struct {
	// Reports are what the engine has done, in their order.
	Reports []*apply.Report
	// Generation is the number of the machine's current generation; 0 if that is not reported.
	Generation int
	// Restored is the number of the generation that was restored because the change failed; 0 if none was.
	Restored int
	// Attempted means that the machine was changed, or may have been.
	Attempted bool
	// Checked means that all of the plan's health checks ran and passed.
	Checked bool
	// ConfirmBy is when the change is rolled back unless it is confirmed; zero if the change stays.
	ConfirmBy time.Time
}

// Boot makes the machine be as a step has it.
func (n *Node) Boot(ctx context.Context, store *generation.Store, step Step) (Made, error) {
	t := attempt{Node: n}
	err := n.guarded(func() error {
		report, err := n.advance(ctx, store, step, func(health []resource.Resource) error {
			_, err := t.healthyAgain(ctx, health)
			return err
		})
		t.applied(report)
		if current, found := store.Current(); found {
			t.made.Generation = current.Number
		}
		return err
	})
	return t.made, err
}

// Run applies a plan that makes no generation: a script's, whose effect is unknown.
func (n *Node) Run(ctx context.Context, desired resource.Plan) (*apply.Report, error) {
	engine := n.engine()
	return engine.Apply(ctx, desired)
}

// Afterwards does what the last transition has left because nothing waits for it.
func (n *Node) Afterwards(ctx context.Context, owed []resource.Resource) (*apply.Report, error) {
	return n.engine().Afterwards(ctx, owed)
}

// Preview reports what applying a plan would do, and changes nothing.
func (n *Node) Preview(ctx context.Context, desired resource.Plan) (*apply.Report, error) {
	engine := n.engine()
	return engine.Preview(ctx, desired)
}

// engine is what changes this machine.
func (n *Node) engine() *apply.Engine {
	return &apply.Engine{Host: n.Host, Now: n.Now, Log: n.Log, Sequential: n.Sequential}
}

// guarded calls f, and turns a panic into an error. The results of f until then stay available.
func (n *Node) guarded(f func() error) error { return apply.Guard(n.Log, "agent", f) }

// advance applies a plan as a generation, and records the outcome. If the machine has the plan already, advance only compares it and
// records nothing, except for a repair: the generation was good, so the machine is at fault. well runs the health checks.
func (n *Node) advance(ctx context.Context, store *generation.Store, next Step, well func(health []resource.Resource) error) (*apply.Report, error) {
	engine := n.engine()
	engine.Defer = true
	settled, err := next.settled(store)
	if err != nil {
		return new(apply.Report), err
	}
	n.Hold(!settled && next.Entry.Origin != generation.Rollback)
	defer n.Hold(false)
	desired := next.Plan
	if err := next.findMasked(n.Host, store); err != nil {
		return new(apply.Report), err
	}
	switch {
	case next.All:
		if engine.Stale, err = added(store); err != nil {
			return new(apply.Report), err
		}
	case len(next.masked) > 0:
		n.Log.Warn("units are masked, and Slipway did not mask them; they stay masked", "units", slices.Sorted(maps.Keys(next.masked)))
		desired = without(desired, next.masked)
	}
	if !settled {
		desired = withoutRegistration(n.Host, store, &next, desired)
		if err := engine.Writable(desired); err != nil {
			return new(apply.Report), err
		}
		next.Entry.StartedAt = n.Now()
		if next.Entry, err = store.Begin(ctx, next.Entry, next.Plan); err != nil {
			return new(apply.Report), err
		}
		stale, restored := store.Stale(next.Plan)
		engine.Stale = append(engine.Stale, stale...)
		desired.Resources = slices.Concat(desired.Resources, restored)
		desired.Sort()
	}
	if settled && !next.All {
		desired = withoutUpgraded(n.Host, desired)
	}
	if next.Late != nil && !settled {
		engine.Late = &apply.Late{Unit: plan.KubeletUnit, Files: func(ctx context.Context) ([]*resource.File, error) {
			return decided(store, desired, next.Late(ctx))
		}}
	}
	report, err := engine.Apply(ctx, desired)
	if err = blamed(ctx, n, err); err == nil && next.asks(settled, len(report.Changes) > 0) {
		err = well(desired.Health)
	}
	if settled && err == nil {
		err = store.Settled(next.Entry)
	}
	if settled {
		return report, err
	}
	return report, finish(n, store, err)
}

// decided replaces the plan that is being applied in the record, and returns the files whose content differs.
func decided(store *generation.Store, applied, plan resource.Plan) (files []*resource.File, err error) {
	planned := plan.ByID()
	for _, res := range applied.Resources {
		before, ok := res.Spec.(*resource.File)
		if file, is := planned[res.ID()].Spec.(*resource.File); ok && is && !bytes.Equal(before.Content, file.Content) {
			files = append(files, file)
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	return files, store.Amend(plan)
}

// blamed puts a container runtime that does not answer before a kubelet that failed, for want of it.
func blamed(ctx context.Context, n *Node, err error) error {
	if err == nil || outcome.Code(err) != exitcode.KubeletStartFailed {
		return err
	}
	asked := plan.RuntimeCheck()
	check := asked.Spec.(*resource.Check)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), check.Timeout.Std())
	defer cancel()
	silent := n.guarded(func() error { return n.Host.Probe(ctx, check) })
	if silent == nil || errors.Is(silent, apply.ErrNotProbed) {
		return err
	}
	// Its time is over, and not the run's.
	return errors.Join(&apply.Error{Resource: asked.ID(), ExitCode: asked.ExitCode,
		Err: fmt.Errorf("the container runtime does not answer, which the kubelet needs: %s", silent.Error())}, err)
}

// finish records the outcome of the current generation. The error is the apply's, or that the success cannot be recorded. In
// that case the generation counts as failed: otherwise it could be the target of a rollback.
func finish(n *Node, store *generation.Store, err error) error {
	if err == nil {
		if err = store.Finish(generation.Good, "", n.Now()); err == nil {
			return nil
		}
	}
	n.Hold(false)
	if recording := store.Finish(generation.Failed, outcome.Text(err), n.Now()); recording != nil {
		n.Log.Warn("the generation's outcome cannot be recorded", "error", recording)
	}
	return err
}

// settled reports whether the plan is the current generation's, which was good.
func (s *Step) settled(store *generation.Store) (bool, error) {
	current, found := store.Current()
	if !found || current.Outcome != generation.Good || current.Config != s.Plan.Config {
		return false, nil
	}
	err := s.Entry.Name(s.Plan)
	return s.Entry.Plan == current.Plan, err
}
